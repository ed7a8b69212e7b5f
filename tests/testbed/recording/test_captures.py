# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the files of captures."""

from __future__ import annotations

from pathlib import Path

from testbed.recording.captures import make_way


def test_an_existing_capture_is_renamed_with_a_number(tmp_path: Path) -> None:
    path = tmp_path / "h1-eth0.pcapng"
    for number in range(3):
        make_way(path)
        path.write_text(str(number))
    contents = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert contents == {"h1-eth0-1.pcapng": "0", "h1-eth0-2.pcapng": "1", "h1-eth0.pcapng": "2"}
