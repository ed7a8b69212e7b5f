# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Senders that were paused and resume at one instant, with all that their windows hold: work that a fluid misses.

Where a pause is decided behind the queue, it ends when the queue that was left behind a frame is gone. For frames that
were queued together that is one instant, to the nanosecond. In a fluid whose frames share the queue, a few flows are
behind by a bin, resume first, and so hold up the others: its resumes trickle. Whether those of the packets do hangs on
single frames, so that all of a run's are taken to come at once, at the moment at which most frames wait for it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_LITTLE = 1e-6

Floats = NDArray[np.float64]
Indexes = NDArray[np.int64]


@dataclass(slots=True)
class WorstResume:
    """The flows that could send most if their pauses all ended now, over a run."""

    flows: Indexes
    frames: Floats
    """That each of them may send at once."""

    @classmethod
    def none(cls) -> WorstResume:
        """Of a run in which nobody is paused."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0))

    def note(self, flows: Indexes, frames: Floats) -> None:
        """Paused flows of a moment and what they may send; kept if it is more than at any before."""
        if frames.sum() > self.frames.sum():
            self.flows, self.frames = flows, frames

    def bins(self, src: Indexes, line_rate_frames: Floats, most: int) -> list[Floats]:
        """What each of these flows sends in each bin after it: its host is shared out, and its window ends it, or the
        next pause after `most` bins.

        `src`: the host of each; `line_rate_frames`: of each host in a bin.
        """
        rows: list[Floats] = []
        left = self.frames.copy()
        while (left > 0).any() and len(rows) < most:
            wanted = np.bincount(src, left, len(line_rate_frames))
            share = np.minimum(1, line_rate_frames / np.maximum(wanted, _LITTLE))
            sent = np.where(share[src] < 1, left * share[src], left)
            rows.append(sent)
            left = np.where(share[src] < 1, left - sent, 0.0)
        return rows
