# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What is to be done at times known beforehand to what cannot plan itself, such as BMv2: from a thread of its own.

So it is done as late as this process wakes, a millisecond of wall time or so.
"""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from itertools import count

from softswitch.control import CommandError
from testbed.errors import RunError


class PlannedLines:
    """Things to do, each at its time; those of one time in the order in which they were added."""

    def __init__(self, epoch_ns: int) -> None:
        """Times count from `epoch_ns` of CLOCK_MONOTONIC."""
        self.failure: str | None = None
        """Why it ended before it was stopped."""
        self._epoch_ns = epoch_ns
        self._waiting: list[tuple[int, int, Callable[[], object]]] = []
        self._order = count()
        self._changed = threading.Condition()
        self._is_stopping = False
        self._thread: threading.Thread | None = None

    def add(self, at_ns: int, do: Callable[[], object]) -> None:
        """The first one starts the thread."""
        with self._changed:
            heapq.heappush(self._waiting, (at_ns + self._epoch_ns, next(self._order), do))
            self._changed.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="planned", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Drops what has not been done."""
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
                self.failure = f"a fault could not be made: {error}"
                return

    def _next(self) -> Callable[[], object] | None:
        """Waits for the time of the first; None once it is stopped."""
        with self._changed:
            while not self._is_stopping:
                left_s = (self._waiting[0][0] - time.monotonic_ns()) / 1e9 if self._waiting else None
                if left_s is not None and left_s <= 0:
                    return heapq.heappop(self._waiting)[2]
                self._changed.wait(left_s)
        return None
