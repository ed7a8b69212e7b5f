# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Processes that a calibration measures: ``python -m sfc_testbed.testbed.speed.probe agent|switch|SECONDS``.

All have real-time priority, as agents and switches have. The first two sleep without timer slack, and print a line of
JSON with the lateness of each wake-up in ns. An agent waits for a timer among other descriptors, a switch only sleeps.

With SECONDS of wall time the process computes without a pause, and prints the processor time that it got, in ns. On a
core that is shared with other machines or throttled by a quota it gets less than the wall time.
"""

from __future__ import annotations

import json
import select
import sys
import time
from collections.abc import Callable

from os_helpers.parent import die_with_parent
from sfc_testbed.hosts.io.timer import MonotonicTimer, end_sleeps_on_time, take_real_time_priority

SLEEPS = 300
KINDS = ("agent", "switch")
_INTERVAL_NS = 2_000_000


def _sleep_as_agent() -> Callable[[int], None]:
    timer, epoll = MonotonicTimer(), select.epoll()
    epoll.register(timer.fileno(), select.EPOLLIN)

    def sleep_until(instant_ns: int) -> None:
        timer.arm(instant_ns)
        epoll.poll()
        timer.clear()

    return sleep_until


def _sleep_as_switch() -> Callable[[int], None]:
    def sleep_until(instant_ns: int) -> None:
        time.sleep(max(0, instant_ns - time.monotonic_ns()) / 1e9)

    return sleep_until


def _lateness_ns(kind: str) -> list[int]:
    """Sleep repeatedly and return the lateness of the wake-ups."""
    end_sleeps_on_time()
    sleep_until = _sleep_as_agent() if kind == "agent" else _sleep_as_switch()
    late_ns = []
    for _ in range(SLEEPS):
        due_ns = time.monotonic_ns() + _INTERVAL_NS
        sleep_until(due_ns)
        late_ns.append(max(0, time.monotonic_ns() - due_ns))
    return late_ns


def _work(seconds: float) -> int:
    """Compute, and return the processor time used."""
    end_ns = time.monotonic_ns() + round(seconds * 1e9)
    began_ns = time.process_time_ns()
    while time.monotonic_ns() < end_ns:
        pass
    return time.process_time_ns() - began_ns


if __name__ == "__main__":
    die_with_parent()
    take_real_time_priority()
    print(json.dumps(_lateness_ns(sys.argv[1]) if sys.argv[1] in KINDS else _work(float(sys.argv[1]))))
