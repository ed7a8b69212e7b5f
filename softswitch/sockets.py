# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Names for sockets of switches that nobody has named, in the folder for temporary files; and what became of them.

Whoever makes one removes it. Of one that was killed with all that belongs to it the socket stays: whoever makes the
next one removes it, and so does `runner.py clean`.
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
_PREFIX = "softswitch-"
_SETTLED_S = 10.0
"""A socket has its name for a moment before somebody listens on it."""


def new_name(owner: str) -> Path:
    """A path for a control socket that nobody has; dead ones beside it are removed."""
    remove_dead()
    return Path(tempfile.gettempdir(), f"{_PREFIX}{owner}-{secrets.token_hex(4)}{CONTROL}")


def remove_dead() -> int:
    """Removes this user's sockets on which nobody listens, and says how many there were."""
    removed = 0
    for suffix in (CONTROL, DIGESTS):
        for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*{suffix}"):
            with suppress(OSError):  # gone meanwhile
                found = path.lstat()
                is_ours = stat.S_ISSOCK(found.st_mode) and found.st_uid == os.geteuid()
                if is_ours and time.time() - found.st_mtime > _SETTLED_S and is_free(path):
                    path.unlink()
                    removed += 1
    return removed


def is_free(path: Path) -> bool:
    """Whether nobody listens there: there is nothing, or a socket that somebody dead has left."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.setblocking(False)  # one with many clients waiting would hold us
        try:
            probe.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return True
        except OSError:
            return False
    return False
