# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Queue depths of a BMv2 switch, which cannot sample its own: read from the program's registers, again and again.

A poll reads the whole buffer's bytes and, while there are any, all queues' in one exchange. The high water of an
interval is the highest depth that a poll saw: what rises and falls between two polls is not in it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from softswitch.control import CommandError
from telemetry.queue_samples import SAMPLE_DTYPE
from telemetry.schema import WHOLE_BUFFER
from testbed.targets.bmv2.control import Bmv2Control
from wire.constants import CLASS_COUNT

_POLLS_PER_SAMPLE = 10
_LEAST_NS_PER_SWITCH = 5_000_000
"""A poll takes well under a millisecond of a core; this keeps all of them in the noise."""

_WHOLE = (WHOLE_BUFFER, WHOLE_BUFFER)


def poll_interval_ns(sample_ns: int, switches: int) -> int:
    """How often each of so many switches is polled: ten times a sample, or as often as BMv2 can serve."""
    return max(sample_ns // _POLLS_PER_SAMPLE, _LEAST_NS_PER_SWITCH * switches)


class QueuePoller:
    """Polls one switch from a thread of its own until it is stopped; `also` is called there after each poll.

    Samples go to the file `samples` at the end of each interval.
    """

    def __init__(
        self,
        control: Bmv2Control,
        samples: Path,
        *,
        poll_ns: int,
        sample_ns: int,
        epoch_ns: int,
        also: Callable[[], None],
    ) -> None:
        self.failure: str | None = None
        """Why it ended before it was stopped."""
        self._control = control
        self._poll_ns = poll_ns
        self._polls_per_sample = max(1, round(sample_ns / poll_ns))
        self._epoch_ns = epoch_ns
        self._also = also
        self._samples = samples
        self._high: dict[tuple[int, int], int] = {}
        self._now: dict[tuple[int, int], int] = {}
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bmv2-poller", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends after the poll under way."""
        self._is_stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def poll(self) -> None:
        """Reads the present depths."""
        used = self._control.register_value("buffer_bytes", 0)
        self._now = {_WHOLE: used}
        if used:
            cells = self._control.register_values("queue_bytes")
            for index in np.flatnonzero(cells):
                self._now[divmod(int(index), CLASS_COUNT)] = int(cells[index])
        for queue, depth in self._now.items():
            self._high[queue] = max(self._high.get(queue, 0), depth)

    def end_interval(self, time_ns: int) -> None:
        """Makes samples of what the polls of an interval saw."""
        rows = [(time_ns, *queue, self._now.get(queue, 0), high) for queue, high in sorted(self._high.items())]
        with self._samples.open("ab") as file:
            file.write(np.array(rows, dtype=SAMPLE_DTYPE).tobytes())
        self._high = {}

    def _run(self) -> None:
        due_ns = time.monotonic_ns()
        polls = 0
        while not self._is_stopping.is_set():
            try:
                self.poll()
                self._also()
            except (OSError, CommandError) as error:
                self.failure = str(error)
                return
            polls += 1
            now_ns = time.monotonic_ns()
            if polls % self._polls_per_sample == 0:
                self.end_interval(now_ns - self._epoch_ns)
            due_ns = max(due_ns + self._poll_ns, now_ns)
            self._is_stopping.wait((due_ns - now_ns) / 1e9)
