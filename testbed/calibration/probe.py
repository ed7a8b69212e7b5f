# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Processes that a calibration measures: ``python -m testbed.calibration.probe agent|switch|SECONDS``.

The first two sleep like agents or switches and print a line of JSON with the lateness of each wake-up in ns. An agent
waits for a timer among other descriptors, with normal scheduling. A switch sleeps with the priority of
`softswitch --realtime` and without timer slack.

With SECONDS of wall time the process computes without a pause. It prints the rounds of work and the shortest time of a
round in ns, which shows the speed of a free core. A core that is shared, throttled by a quota or used by a hypervisor
does fewer rounds.
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
from processes.parent import die_with_parent

SLEEPS = 300
KINDS = ("agent", "switch")
_INTERVAL_NS = 2_000_000
_PR_SET_TIMERSLACK = 29
_ADDITIONS = 5_000


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


def _work(seconds: float) -> dict[str, int]:
    """Compute, and return the number of rounds and the shortest round."""
    rounds, shortest_ns = 0, sys.maxsize
    now_ns = time.monotonic_ns()
    end_ns = now_ns + round(seconds * 1e9)
    while now_ns < end_ns:
        for _ in range(_ADDITIONS):
            pass
        previous_ns, now_ns = now_ns, time.monotonic_ns()
        rounds += 1
        shortest_ns = min(shortest_ns, now_ns - previous_ns)
    return {"rounds": rounds, "shortest_ns": shortest_ns}


if __name__ == "__main__":
    die_with_parent()
    print(json.dumps(_lateness_ns(sys.argv[1]) if sys.argv[1] in KINDS else _work(float(sys.argv[1]))))
