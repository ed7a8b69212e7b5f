# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""OnRamp-style flow control (Liu et al., NSDI'21), RECONSTRUCTED: pause a flow while its one-way delay is too long.

No text or implementation of OnRamp was available (docs/sources.md#onramp). Known facts are:

- The sender pauses when the one-way delay O is above a threshold T.
- A straw-man version pauses for O - T and oscillates.
- The final version subtracts pauses that O does not reflect yet, and lowers its gain when more flows are present.

The form of that gain, the estimate of the number of flows, and T are our own choices. They are calibrated to the SFC
paper's result for a 63:1 incast (Fig. 1), in which the queue settles near 13 MB within 2 ms.
"""

from collections import deque
from dataclasses import dataclass, replace
from typing import Annotated

from mypy_extensions import mypyc_attr
from pydantic import Field

from sfc_testbed.hosts.transport.congestion.base import AckSample, PathContext
from sfc_testbed.hosts.transport.flow_control.base import FlowControl
from sfc_testbed.request.checks import Nanoseconds
from sfc_testbed.wire.units import NS_PER_S

_BIT_NS = 8 * NS_PER_S


@dataclass(frozen=True, slots=True)
class OnRampParameters:
    """Parameters of both OnRamp variants."""

    threshold_ns: Nanoseconds = 0
    """T: one-way delay above which a flow is paused; 0: the base RTT, which is twice the delay of the empty path."""
    gain: Annotated[float, Field(ge=0, le=1_000)] = 1.0
    """Fraction of O - T for which a single flow is paused; not used by the straw-man."""
    gain_exponent: Annotated[float, Field(ge=0, le=10)] = 0.5
    """Exponent by which the gain falls with the number m of flows: gain / m^exponent; not used by the straw-man."""
    shortest_pause_ns: Nanoseconds = 0
    """Shortest pause of the straw-man. With a long one it is the ideal sender of the SFC paper's appendix C, which
    stops at the first signal for as long as the queue needs to drain."""


@mypyc_attr(allow_interpreted_subclasses=True)
class OnRampStrawMan(FlowControl):
    """A flow control that pauses for O - T at every acknowledgement whose packet took longer than T."""

    __slots__ = ("_parameters", "_pause_end_ns", "_threshold_ns")

    Parameters = OnRampParameters
    wants_delay = True

    @classmethod
    def resolve(cls, parameters: OnRampParameters, path: PathContext) -> OnRampParameters:
        """Return the parameters with T set to the base RTT if it is unset."""
        return parameters if parameters.threshold_ns else replace(parameters, threshold_ns=path.base_rtt_ns)

    def __init__(self, parameters: OnRampParameters, path: PathContext, max_pause_ns: int) -> None:
        super().__init__(parameters, path, max_pause_ns)
        self._parameters = parameters
        self._threshold_ns = parameters.threshold_ns
        self._pause_end_ns = 0

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Replace the current pause if the packet's delay was above the threshold."""
        if sample.one_way_delay_ns is not None and sample.one_way_delay_ns > self._threshold_ns:
            excess_ns = sample.one_way_delay_ns - self._threshold_ns
            self._pause(max(excess_ns, self._parameters.shortest_pause_ns), now_ns)

    def earliest_send_ns(self, now_ns: int) -> int:
        """Return the end of the current pause."""
        return self._pause_end_ns

    def _pause(self, duration_ns: int, now_ns: int) -> None:
        self._pause_end_ns = now_ns + min(duration_ns, self.max_pause_ns)


@mypyc_attr(allow_interpreted_subclasses=True)
class OnRamp(OnRampStrawMan):
    """A flow control that holds (pauses) a flow while its delay is too long.

    It corrects for late feedback and for other flows.

    Late feedback: an acknowledged packet measured the delay O when it was sent. If this control has since held the flow
    for a total time P, O does not reflect that yet, so the flow is held only while O > T + P. Time for which a window
    blocked the flow does not count as a hold; counting it disabled the control whenever a window was used. Sending uses
    up the allowance T + P - O. The flow is held again as soon as the allowance is used up, not only at the next
    acknowledgement.

    Other flows: all flows see the same O, so each flow is held for gain / m^exponent of O - T. The number of flows m is
    estimated as the round-trip time divided by the time that the bytes in flight take to leave at line rate.

    Each acknowledgement replaces the hold. If none arrives before the hold ends, one packet is sent and requests
    another. If nothing else limits a flow, its bytes in flight settle at what it sends in T plus the delay of an
    acknowledgement, however long the queue is.
    """

    __slots__ = ("_allowance_ns", "_hold_ns", "_holds", "_line_rate_bps")

    def __init__(self, parameters: OnRampParameters, path: PathContext, max_pause_ns: int) -> None:
        super().__init__(parameters, path, max_pause_ns)
        self._line_rate_bps = path.line_rate_bps
        self._allowance_ns = self._hold_ns = 0
        self._holds: deque[tuple[int, int]] = deque()

    def on_sent(self, size_bytes: int, now_ns: int) -> None:
        """Reduce the allowance by the sent bytes, and hold the flow once it is used up."""
        self._allowance_ns -= size_bytes * _BIT_NS // self._line_rate_bps
        if self._allowance_ns <= 0 < self._hold_ns:
            self._hold(self._hold_ns, now_ns)

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Update the allowance and the hold as the class describes; resent packets are ignored."""
        if sample.one_way_delay_ns is None or sample.rtt_ns is None:
            return
        excess_ns = sample.one_way_delay_ns - self._threshold_ns
        sending_ns = sample.in_flight_bytes * _BIT_NS // self._line_rate_bps
        parameters = self._parameters
        flows = max(1.0, sample.rtt_ns / max(1, sending_ns))
        self._allowance_ns = self._held_since(now_ns - sample.rtt_ns, now_ns) - excess_ns
        self._hold_ns = max(0, round(parameters.gain / flows**parameters.gain_exponent * excess_ns))
        self._hold(self._hold_ns if self._allowance_ns <= 0 else 0, now_ns)

    def _hold(self, duration_ns: int, now_ns: int) -> None:
        """Replace the current hold, if any, and remember the part of it that has passed."""
        holds = self._holds
        if holds and holds[-1][1] > now_ns:
            begin_ns, _ = holds.pop()
            if begin_ns < now_ns:
                holds.append((begin_ns, now_ns))
        self._pause(duration_ns, now_ns)
        if self._pause_end_ns > now_ns:
            holds.append((now_ns, self._pause_end_ns))

    def _held_since(self, since_ns: int, now_ns: int) -> int:
        holds = self._holds
        while holds and holds[0][1] <= since_ns:
            holds.popleft()
        return sum(min(end_ns, now_ns) - max(begin_ns, since_ns) for begin_ns, end_ns in holds)
