# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A process that sleeps like agents or switches: ``python -m testbed.calibration.sleeper agent|switch``.

It prints one line of JSON with the lateness of each wake-up in ns. An agent waits for a timer among other descriptors,
with normal scheduling. A switch sleeps with the priority of `softswitch --realtime` and without timer slack.
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


def main(kind: str) -> None:
    """Sleep repeatedly and print the lateness of the wake-ups."""
    die_with_parent()
    sleep_until = _sleep_as_agent() if kind == "agent" else _sleep_as_switch()
    late_ns = []
    for _ in range(SLEEPS):
        due_ns = time.monotonic_ns() + _INTERVAL_NS
        sleep_until(due_ns)
        late_ns.append(max(0, time.monotonic_ns() - due_ns))
    print(json.dumps(late_ns))


if __name__ == "__main__":
    main(sys.argv[1])
