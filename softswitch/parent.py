# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ends a process together with its parent; a copy of `hosts.io.parent`, which this lower layer must not import."""

from __future__ import annotations

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1


def end_with_parent(parent: int) -> bool:
    """Ask the kernel to send SIGTERM when the thread that started this process ends. The request survives exec.

    Return False if process `parent` is not (or no longer) the parent of this process.
    """
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    return os.getppid() == parent
