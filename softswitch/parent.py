# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Processes that do not outlive the one that started them. As `hosts.io.parent`, which stands above."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1


def ends_with(parent: int) -> bool:
    """Has the kernel send SIGTERM when the thread that started this process ends, also to what it becomes.

    False where process `parent` is not, or no longer, the one that started it.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    return os.getppid() == parent
