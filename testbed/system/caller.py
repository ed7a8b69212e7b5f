# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The user who called sudo, to whom files of a run are given."""

from __future__ import annotations

import os
import re

_ID = re.compile("[0-9]{1,10}")
_NO_ID = 2**32 - 1
"""chown takes this number for "leave the owner"."""


def caller() -> tuple[int, int] | None:
    """Return the user and the group of who called sudo.

    None without sudo, for root, and if sudo's variables hold no numbers of a user and a group: files stay root's.
    """
    words = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if os.geteuid() != 0 or not all(_ID.fullmatch(word) and int(word) < _NO_ID for word in words):
        return None
    user, group = map(int, words)
    return (user, group) if user else None
