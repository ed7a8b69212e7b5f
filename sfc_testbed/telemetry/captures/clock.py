# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Conversion of the times in a capture to model times, described by a line of text that each capture carries.

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
    """The relation between a capture's clock, which is a wall clock, and model time."""

    dilation: int
    start_ns: int | None = None
    """Model time 0 on the capture's clock. None if it is unknown or the run did not start."""
    switch_epoch_ns: int | None = None
    """Time on the capture's clock at which all switches' clocks are 0. None if their clocks differ."""

    def describe(self) -> str:
        """Return the line of text that describes this clock."""
        words = [f"sfc-testbed dilation={self.dilation}"]
        times_ns = {"start_ns": self.start_ns, "switch_epoch_ns": self.switch_epoch_ns}
        return " ".join(words + [f"{name}={time_ns}" for name, time_ns in times_ns.items() if time_ns is not None])

    def explain(self) -> str:
        """Return the line of text, followed by an explanation for people."""
        formula = "time / dilation" if self.start_ns is None else "(time - start) / dilation"
        return f"{self.describe()}\nTimes here are wall times: model time = {formula}."

    def model_us(self, time_ns: int) -> float | None:
        """Convert a time of the capture to model time, or return None if model time 0 is unknown."""
        return None if self.start_ns is None else (time_ns - self.start_ns) / (self.dilation * _NS_PER_US)


def clock_in(text: str) -> CaptureClock | None:
    """Return the clock that the beginning of a text describes, or None if the text begins differently."""
    line = _LINE.match(text)
    if line is None:
        return None
    dilation, start_ns, epoch_ns = (None if number is None else int(number) for number in line.groups())
    return None if dilation is None else CaptureClock(dilation, start_ns, epoch_ns)
