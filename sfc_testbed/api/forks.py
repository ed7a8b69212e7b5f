# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Refuses work in a process that was forked from one whose polars had started its threads: polars would wait forever.

Only modules of Python's library are imported, so that the watch begins with the first use of the public interface.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_POOLS = ("polars-", "async-executor")
"""The beginnings of the names of threads on which a query waits."""


class _Watch:
    """What a fork finds and leaves."""

    def __init__(self) -> None:
        self._has_pool = False
        self.lost_threads = False
        os.register_at_fork(before=self._look, after_in_child=self._note)

    def _look(self) -> None:
        self._has_pool = "polars" in sys.modules and any(map(_is_of_pool, Path("/proc/self/task").glob("*/comm")))

    def _note(self) -> None:
        self.lost_threads = self.lost_threads or self._has_pool


def _is_of_pool(file: Path) -> bool:
    try:
        name = file.read_text()
    except OSError:  # the thread has ended
        return False
    return name.startswith(_POOLS) and not name.startswith("polars-ooc")


_WATCH = _Watch()


def check_not_forked() -> None:
    """Raise UsageError in a process whose parent's polars had started its threads."""
    if _WATCH.lost_threads:
        from sfc_testbed.request.errors import UsageError

        raise UsageError(
            "this process was forked after polars was used, which cannot go on in it: "
            'start processes with multiprocessing.get_context("spawn")'
        )
