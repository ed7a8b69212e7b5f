# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of sockets in the folder for temporary files: sockets of killed processes are removed later."""

import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from softswitch.sockets import is_free, new_socket_path, remove_dead


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Replace the folder for temporary files by one with a name short enough for a socket's path."""
    with tempfile.TemporaryDirectory(prefix="sfc-", dir="/tmp") as name:
        monkeypatch.setattr("tempfile.tempdir", name)
        yield Path(name)


def _left(path: Path, *, is_old: bool = True) -> socket.socket:
    """Create a named socket; a process listens on it unless the socket is closed."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    if is_old:
        os.utime(path, (0.0, 0.0))
    return listener


def test_new_name_removes_sockets_without_a_listener(folder: Path) -> None:
    dead, digests, young = folder / "softswitch-s1-0.control", folder / "softswitch-s1-0.digests", new_socket_path("s2")
    for path in (dead, digests):
        _left(path).close()
    _left(young, is_old=False).close()
    (folder / "softswitch-notes.control").touch()
    os.utime(folder / "softswitch-notes.control", (0.0, 0.0))
    expected = {"softswitch-s3-0.control", "softswitch-notes.control", young.name}
    with _left(folder / "softswitch-s3-0.control"):
        assert is_free(dead) and not is_free(folder / "softswitch-s3-0.control")
        name = new_socket_path("s4")
        assert {path.name for path in folder.iterdir()} == expected
        assert name.parent == folder and name.name.startswith("softswitch-s4-") and is_free(name)
        assert remove_dead() == 0
