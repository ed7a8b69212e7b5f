# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Names sockets of switches in the folder for temporary files, and removes sockets that are no longer used.

The process that creates a socket removes it. A socket left by a killed process is removed when the next name is
created, or by `runner.py clean`.
"""

from __future__ import annotations

import os
import secrets
import socket
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

CONTROL, DIGESTS = ".control", ".digests"
TEMPORARY = "softswitch-"
"""The beginning of the names of sockets and of temporary folders."""
_SETTLED_S = 10.0
"""The age below which a socket is never removed: its owner may not listen yet."""


def new_socket_path(owner: str) -> Path:
    """Return an unused path for a control socket, after removing unused sockets in the same folder."""
    remove_dead()
    return Path(tempfile.gettempdir(), f"{TEMPORARY}{owner}-{secrets.token_hex(4)}{CONTROL}")


def remove_dead() -> int:
    """Remove this user's sockets without a listener and return how many were removed."""
    removed = 0
    for suffix in (CONTROL, DIGESTS):
        for path in Path(tempfile.gettempdir()).glob(f"{TEMPORARY}*{suffix}"):
            with suppress(OSError):  # another process may have removed the file
                status = path.lstat()
                is_ours = stat.S_ISSOCK(status.st_mode) and status.st_uid == os.geteuid()
                if is_ours and time.time() - status.st_mtime > _SETTLED_S and is_free(path):
                    path.unlink()
                    removed += 1
    return removed


def is_free(path: Path) -> bool:
    """Whether no process listens at a path: no file is there, or only the socket of a process that has ended."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)  # connecting would block if the listener's queue is full
        try:
            probe.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return True
        except OSError:
            return False
    return False
