# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A thread that executes planned actions on time for targets that cannot schedule commands themselves, such as BMv2.

An action is late by the time that this process takes to wake up, about 1 ms of wall time.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from itertools import count

from sfc_testbed.testbed.errors import RunError
from softswitch.control import CommandError


class PlannedLines:
    """Planned actions, each with its time. Actions of the same time run in the order in which they were added."""

    def __init__(self, epoch_ns: int) -> None:
        """Create an empty plan. Times are relative to `epoch_ns` of CLOCK_MONOTONIC."""
        self.failure: str | None = None
        """The error that ended the thread early. None: no error."""
        self._epoch_ns = epoch_ns
        self._waiting: list[tuple[int, int, Callable[[], object]]] = []
        self._order = count()
        self._changed = threading.Condition()
        self._is_stopping = False
        self._thread: threading.Thread | None = None

    def add(self, at_ns: int, do: Callable[[], object]) -> None:
        """Add an action. The first one starts the thread."""
        with self._changed:
            heapq.heappush(self._waiting, (at_ns + self._epoch_ns, next(self._order), do))
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="planned", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread and drop the remaining actions."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while (do := self._next()) is not None:
            try:
                do()
            except (RunError, CommandError, OSError) as error:
                self.failure = f"a planned fault failed: {error}"
                return

    def _next(self) -> Callable[[], object] | None:
        """Wait until the first action is due and return it, or None once the plan is stopped."""
        with self._changed:
            while not self._is_stopping:
                left_s = (self._waiting[0][0] - time.monotonic_ns()) / 1e9 if self._waiting else None
                if left_s is not None and left_s <= 0:
                    return heapq.heappop(self._waiting)[2]
                self._changed.wait(left_s)
        return None
