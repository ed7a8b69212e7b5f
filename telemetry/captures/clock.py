# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How the times in a capture become model times: a line of text that a capture carries, for people and for scripts.

    sfc-testbed dilation=1000 start_ns=0 switch_epoch_ns=0

tools/wireshark/sfc_testbed.lua reads the same line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(
    r"sfc-testbed dilation=([1-9][0-9]{0,9})(?: start_ns=([0-9]{1,19}))?(?: switch_epoch_ns=([0-9]{1,19}))?"
)
_NS_PER_US = 1000


@dataclass(frozen=True)
class CaptureClock:
    """The clock of a capture, which is a wall clock, against that of the model."""

    dilation: int
    start_ns: int | None = None
    """Model time 0 on the capture's clock; None: not known, or there is none."""
    switch_epoch_ns: int | None = None
    """Where the switches' clocks stand at 0; None: each at another time."""

    def describe(self) -> str:
        """The line."""
        words = [f"sfc-testbed dilation={self.dilation}"]
        if self.start_ns is not None:
            words.append(f"start_ns={self.start_ns}")
        if self.switch_epoch_ns is not None:
            words.append(f"switch_epoch_ns={self.switch_epoch_ns}")
        return " ".join(words)

    def explain(self) -> str:
        """The line, and what to do with it."""
        formula = "time / dilation" if self.start_ns is None else "(time - start) / dilation"
        return f"{self.describe()}\nTimes here are wall times: model time = {formula}."

    def model_us(self, time_ns: int) -> float | None:
        """A time of the capture as model time; None where model time 0 is not known."""
        return None if self.start_ns is None else (time_ns - self.start_ns) / (self.dilation * _NS_PER_US)


def clock_in(text: str) -> CaptureClock | None:
    """The clock that a text begins with, None if it begins with something else."""
    found = _LINE.match(text)
    if found is None:
        return None
    dilation, start_ns, epoch_ns = (None if each is None else int(each) for each in found.groups())
    return None if dilation is None else CaptureClock(dilation, start_ns, epoch_ns)
