# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Polls queue depths and links of a BMv2 switch, because BMv2 takes no samples.

Queue depths come from the P4 program's registers, and the bytes of links from the counters of the switch's interfaces.

A poll reads the bytes in the whole buffer and, if there are any, all queues in one more exchange. The high-water mark
of an interval is the highest depth that a poll read. Peaks between two polls are missed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from sfc_testbed.telemetry.queue_samples import SAMPLE_DTYPE
from sfc_testbed.telemetry.schema import WHOLE_BUFFER
from sfc_testbed.testbed.targets.bmv2.control import Bmv2Control
from sfc_testbed.wire.constants import CLASS_COUNT
from softswitch.control import CommandError

_POLLS_PER_SAMPLE = 10
_LEAST_NS_PER_SWITCH = 5_000_000
"""The shortest polling interval, per switch. A poll takes well under 1 ms of a core, so its load stays negligible."""

_WHOLE = (WHOLE_BUFFER, WHOLE_BUFFER)
_LINK = (-1, -1)
"""Class and part in the sample of a link."""


def poll_interval_ns(sample_ns: int, switches: int) -> int:
    """Return the polling interval of each switch: a tenth of the sampling interval, or longer with many switches."""
    return max(sample_ns // _POLLS_PER_SAMPLE, _LEAST_NS_PER_SWITCH * switches)


class QueuePoller:
    """A thread that polls one switch until it is stopped. The thread calls `also` after each poll.

    At the end of each sampling interval it appends the samples to the file `samples`.
    """

    def __init__(
        self,
        control: Bmv2Control,
        samples: Path,
        *,
        poll_ns: int,
        sample_ns: int,
        epoch_ns: int,
        link_bytes: Callable[[], Mapping[int, tuple[int, int]]],
        also: Callable[[], None],
    ) -> None:
        """`link_bytes` reads the bytes that each port has received and sent so far."""
        self.failure: str | None = None
        """Error that ended polling early. None: no error."""
        self._control = control
        self._link_bytes = link_bytes
        self._counted = link_bytes()
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
        """Stop polling and wait for the end of the current poll."""
        self._is_stopping.set()
        if self._thread.is_alive():
            self._thread.join()

    def finish(self) -> None:
        """Stop, and write the samples of the last interval. Call this when no more frame will come."""
        self.stop()
        with suppress(OSError):  # a switch that is gone has no interfaces to read
            self.end_interval(time.monotonic_ns() - self._epoch_ns)

    def poll(self) -> None:
        """Read the current queue depths."""
        used = self._control.register_value("buffer_bytes", 0)
        self._now = {_WHOLE: used}
        if used:
            cells = self._control.register_values("queue_bytes")
            for index in np.flatnonzero(cells):
                self._now[divmod(int(index), CLASS_COUNT)] = int(cells[index])
        for queue, depth in self._now.items():
            self._high[queue] = max(self._high.get(queue, 0), depth)

    def end_interval(self, time_ns: int) -> None:
        """Write one sample per queue that was polled as non-empty since the last interval, and per link that carried
        frames, and start a new interval."""
        rows = [(time_ns, *queue, 0, self._now.get(queue, 0), high) for queue, high in sorted(self._high.items())]
        before, self._counted = self._counted, self._link_bytes()
        for port, (received, sent) in self._counted.items():
            old_received, old_sent = before.get(port, (0, 0))
            if (received, sent) != (old_received, old_sent):
                rows.append((time_ns, port, *_LINK, received - old_received, sent - old_sent))
        with self._samples.open("ab") as file:
            file.write(np.array(rows, dtype=SAMPLE_DTYPE).tobytes())
        self._high = {}

    def _run(self) -> None:
        due_ns = time.monotonic_ns()
        polls = 0
        while not self._is_stopping.is_set():
            polls += 1
            try:
                self.poll()
                self._also()
                now_ns = time.monotonic_ns()
                if polls % self._polls_per_sample == 0:
                    self.end_interval(now_ns - self._epoch_ns)
            except (OSError, CommandError) as error:
                self.failure = str(error)
                return
            due_ns = max(due_ns + self._poll_ns, now_ns)
            self._is_stopping.wait((due_ns - now_ns) / 1e9)
