# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""OnRamp-style flow control (Liu et al., NSDI'21), RECONSTRUCTED: hold a flow while its one-way delay is too long.

No text or implementation of OnRamp was at hand (docs/sources.md#onramp). Known are: the sender pauses when the one-way
delay O is above a threshold T; a straw-man pauses for O - T and oscillates; the final version allows for the pause that
O does not show yet, and lowers its gain when more flows are present. The form of that gain, the estimate of the number
of flows, and T are ours, calibrated on what the SFC paper shows for 63:1 (Fig. 1): it settles near 13 MB within 2 ms.
"""

from collections import deque
from dataclasses import dataclass, replace
from typing import Annotated

from mypy_extensions import mypyc_attr
from pydantic import Field

from hosts.transport.congestion.base import AckSample, PathContext
from hosts.transport.flow_control.base import FlowControl
from wire.input.validation import Nanoseconds
from wire.units import NS_PER_S

_BIT_NS = 8 * NS_PER_S


@dataclass(frozen=True, slots=True)
class OnRampParameters:
    """Knobs of both variants."""

    threshold_ns: Nanoseconds = 0
    """T: the one-way delay above which a flow is held; 0: the base RTT, twice the delay of the empty path."""

    gain: Annotated[float, Field(ge=0, le=1_000)] = 1.0
    """Share of O - T for which a lone flow is held."""

    gain_exponent: Annotated[float, Field(ge=0, le=10)] = 0.5
    """How the gain falls with the number m of flows: gain / m^exponent. The straw-man uses neither."""

    shortest_pause_ns: Nanoseconds = 0
    """The straw-man pauses no shorter: a long one makes the ideal sender of the paper's appendix C, which stops at the
    first notice for as long as the queue needs."""


@mypyc_attr(allow_interpreted_subclasses=True)
class OnRampStrawMan(FlowControl):
    """Pauses for O - T from every acknowledgement whose packet took longer than T."""

    __slots__ = ("_parameters", "_pause_end_ns", "_threshold_ns")

    Parameters = OnRampParameters
    wants_delay = True

    @classmethod
    def resolve(cls, parameters: OnRampParameters, path: PathContext) -> OnRampParameters:
        """T is the base RTT."""
        return parameters if parameters.threshold_ns else replace(parameters, threshold_ns=path.base_rtt_ns)

    def __init__(self, parameters: OnRampParameters, path: PathContext, max_pause_ns: int) -> None:
        super().__init__(parameters, path, max_pause_ns)
        self._parameters = parameters
        self._threshold_ns = parameters.threshold_ns
        self._pause_end_ns = 0

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """A newer delay above the threshold replaces the pause."""
        if sample.one_way_delay_ns is not None and sample.one_way_delay_ns > self._threshold_ns:
            excess_ns = sample.one_way_delay_ns - self._threshold_ns
            self._pause(max(excess_ns, self._parameters.shortest_pause_ns), now_ns)

    def earliest_send_ns(self, now_ns: int) -> int:
        """End of the current pause."""
        return self._pause_end_ns

    def _pause(self, duration_ns: int, now_ns: int) -> None:
        self._pause_end_ns = now_ns + min(duration_ns, self.max_pause_ns)


@mypyc_attr(allow_interpreted_subclasses=True)
class OnRamp(OnRampStrawMan):
    """Holds a flow while its delay is too long, allowing for feedback that is late and for other flows.

    Late feedback: an acknowledged packet measured the delay O when it was sent. If this control has held the flow since
    then, for P in all, O does not show that yet, so the flow is held only while O > T + P. (Time in which a window
    blocked the flow is no hold: counting it made the control idle under every window.) Sending uses up what is left of
    the allowance T + P - O; the flow is held again once it is gone, not only at the next acknowledgement.

    Other flows: all of them see the same O, so each is held for gain / m^exponent of O - T, where m, the number of
    flows, is estimated by the round trip over the time that the bytes in flight took to leave at line rate.

    Each acknowledgement replaces the hold; if none comes before it ends, one packet goes and asks for another. Where
    nothing else limits a flow, it settles at the bytes that it sends in T plus an acknowledgement's way back, however
    long the queue is.
    """

    __slots__ = ("_allowance_ns", "_hold_ns", "_holds", "_line_rate_bps")

    def __init__(self, parameters: OnRampParameters, path: PathContext, max_pause_ns: int) -> None:
        super().__init__(parameters, path, max_pause_ns)
        self._line_rate_bps = path.line_rate_bps
        self._allowance_ns = self._hold_ns = 0
        self._holds: deque[tuple[int, int]] = deque()

    def on_sent(self, size_bytes: int, now_ns: int) -> None:
        """What is sent now adds to the delay; once too much, hold."""
        self._allowance_ns -= size_bytes * _BIT_NS // self._line_rate_bps
        if self._allowance_ns <= 0 < self._hold_ns:
            self._hold(self._hold_ns, now_ns)

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """See the class; a resent packet tells nothing."""
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
        """Replaces the hold that lasts, if any, and remembers both."""
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
