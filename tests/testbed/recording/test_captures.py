# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Files of captures."""

from __future__ import annotations

from pathlib import Path

from testbed.recording.captures import make_way


def test_a_capture_takes_nothing_from_the_one_before(tmp_path: Path) -> None:
    """That goes on under a number."""
    path = tmp_path / "h1-eth0.pcapng"
    for number in range(3):
        make_way(path)
        path.write_text(str(number))
    found = {each.name: each.read_text() for each in tmp_path.iterdir()}
    assert found == {"h1-eth0-1.pcapng": "0", "h1-eth0-2.pcapng": "1", "h1-eth0.pcapng": "2"}
