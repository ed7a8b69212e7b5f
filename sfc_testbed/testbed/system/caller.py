# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The user who called sudo, who becomes the owner of a run's files."""

from __future__ import annotations

import os
import re

_ID = re.compile("[0-9]{1,10}")
_NO_ID = 2**32 - 1
"""The ID that tells chown to leave the owner unchanged."""


def caller() -> tuple[int, int] | None:
    """Return the user ID and group ID of the user who called sudo.

    Return None without sudo, for root, and if sudo's variables hold no valid IDs. Files then remain root's.
    """
    words = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if os.geteuid() != 0 or not all(_ID.fullmatch(word) and int(word) < _NO_ID for word in words):
        return None
    user, group = map(int, words)
    return (user, group) if user else None
