# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The time that jobs still need, from their expected efforts and from the speed so far."""

from __future__ import annotations

import time
from collections.abc import Mapping

_PRIOR_S = 60.0
"""Expected processor time after which the measured speed counts as much as the expected one."""
_MINUTE_S, _HOUR_S = 60, 3600


class TimeLeft:
    """Jobs that have ended, and an estimate for the others."""

    def __init__(self, seconds: Mapping[int, float], parallel: int) -> None:
        """`seconds` has the expected time of each job on one core."""
        self._seconds = seconds
        self._total_s = sum(seconds.values())
        self._parallel = parallel
        self._ended_s = 0.0
        self._began = time.monotonic()

    def end(self, number: int) -> None:
        """Note that a job has ended."""
        self._ended_s += self._seconds[number]

    def share(self, running: Mapping[int, float]) -> float:
        """Return the share of all work that is done. `running` has the shares of the running jobs."""
        return self._done_s(running) / self._total_s if self._total_s else 0.0

    def estimate_s(self, running: Mapping[int, float]) -> float | None:
        """Return the wall time until all jobs have ended, or None if nothing is known about the jobs."""
        if not self._total_s:
            return None
        done_s = self._done_s(running)
        wall_s = time.monotonic() - self._began
        wall_per_second = (_PRIOR_S / self._parallel + wall_s) / (_PRIOR_S + done_s)
        return max(0.0, self._total_s - done_s) * wall_per_second

    def _done_s(self, running: Mapping[int, float]) -> float:
        return self._ended_s + sum(self._seconds[number] * share for number, share in running.items())


def in_words(seconds: float) -> str:
    """Return a duration as text, such as 20 s, 5 min or 2 h 7 min."""
    if seconds < 2 * _MINUTE_S:
        return f"{seconds:.0f} s"
    minutes = round(seconds / _MINUTE_S)
    hours, rest = divmod(minutes, 60)
    return f"{minutes} min" if seconds < 2 * _HOUR_S else f"{hours} h {rest} min"
