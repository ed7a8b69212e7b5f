# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Processes that a calibration measures: ``python -m testbed.calibration.probe agent|switch|SECONDS``.

The first two sleep like agents or switches and print a line of JSON with the lateness of each wake-up in ns. An agent
waits for a timer among other descriptors, with normal scheduling. A switch sleeps with the priority of
`softswitch --realtime` and without timer slack.

With SECONDS of wall time the process computes without a pause, and prints the processor time that it got, in ns. On a
core that is shared or throttled by a quota it gets less than the wall time.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import sys
import time
from collections.abc import Callable

from hosts.io.timer import MonotonicTimer
from softswitch.system.parent import die_with_parent

SLEEPS = 300
KINDS = ("agent", "switch")
_INTERVAL_NS = 2_000_000
_PR_SET_TIMERSLACK = 29


def _sleep_as_agent() -> Callable[[int], None]:
    timer, epoll = MonotonicTimer(), select.epoll()
    epoll.register(timer.fileno(), select.EPOLLIN)

    def sleep_until(instant_ns: int) -> None:
        timer.arm(instant_ns)
        epoll.poll()
        timer.clear()

    return sleep_until


def _sleep_as_switch() -> Callable[[int], None]:
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))

    def sleep_until(instant_ns: int) -> None:
        time.sleep(max(0, instant_ns - time.monotonic_ns()) / 1e9)

    return sleep_until


def _lateness_ns(kind: str) -> list[int]:
    """Sleep repeatedly and return the lateness of the wake-ups."""
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
    print(json.dumps(_lateness_ns(sys.argv[1]) if sys.argv[1] in KINDS else _work(float(sys.argv[1]))))
