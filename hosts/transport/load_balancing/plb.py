# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""PLB, Protective Load Balancing (Qureshi et al., SIGCOMM'22), as in Linux (docs/sources.md#load-balancing-of-hosts).

A flow keeps its path until it has seen congestion for several round trips. It then takes a random new entropy, if
possible while no packet is in flight, because packets in flight could be overtaken. A retransmission timeout also
changes the entropy. After a timeout, congestion changes no path for some time, so that the flow does not return to a
path that has failed.
"""

from dataclasses import dataclass
from typing import Annotated

from mypy_extensions import mypyc_attr
from pydantic import Field

from sfc_testbed.hosts.transport.congestion.base import PathContext
from sfc_testbed.hosts.transport.load_balancing.base import ENTROPIES, LoadBalancing
from sfc_testbed.request.checks import Nanoseconds, PositiveCount


@dataclass(frozen=True, slots=True)
class PlbParameters:
    """Parameters of PLB. The defaults are Linux's (net.ipv4.tcp_plb_*)."""

    marked_fraction: Annotated[float, Field(gt=0, le=1)] = 0.5
    """Fraction of marked acknowledgements from which a round trip is congested (tcp_plb_cong_thresh)."""
    idle_rounds: PositiveCount = 3
    """Consecutive congested round trips after which an idle flow takes a new path (tcp_plb_idle_rehash_rounds)."""
    rounds: PositiveCount = 12
    """Consecutive congested round trips after which a flow takes a new path in any case (tcp_plb_rehash_rounds)."""
    suspend_ns: Nanoseconds = 60_000_000_000
    """Least time after a timeout in which congestion changes no path; at most twice as long, at random
    (tcp_plb_suspend_rto_sec)."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Plb(LoadBalancing):
    """PLB's sender.

    Its state is the entropy, the acknowledgements and marks of this round trip, the congested round trips in a row,
    the packet whose acknowledgement ends the round trip, and the end of the time without changes of the path.
    """

    __slots__ = (
        "_acks", "_congested_rounds", "_entropy", "_idle_rounds", "_marked", "_marked_fraction", "_next_index",
        "_round_end", "_rounds", "_suspend_ns", "_suspended_until_ns",
    )  # fmt: skip

    Parameters = PlbParameters
    ecn_capable = True

    def __init__(self, parameters: PlbParameters, path: PathContext, first_entropy: int, seed: int) -> None:
        super().__init__(parameters, path, first_entropy, seed)
        self._marked_fraction = parameters.marked_fraction
        self._idle_rounds = parameters.idle_rounds
        self._rounds = parameters.rounds
        self._suspend_ns = parameters.suspend_ns
        self._suspended_until_ns = 0
        self._entropy = first_entropy
        self._acks = self._marked = self._congested_rounds = 0
        self._next_index = self._round_end = 0

    def entropy(self, index: int, in_flight: int, now_ns: int) -> int:
        """Return the flow's entropy, after a change if the flow is idle and congestion suggests one."""
        if in_flight == 0 and self._congested_rounds >= self._idle_rounds:
            self._repath(now_ns)
        self._next_index = max(self._next_index, index + 1)
        return self._entropy

    def on_ack(self, entropy: int, ecn_marked: bool, acknowledged: int, now_ns: int) -> None:
        """Count the acknowledgement, and judge the round trip at its end."""
        self._acks += 1
        self._marked += ecn_marked
        if acknowledged <= self._round_end:
            return
        if self._round_end:
            is_congested = self._marked >= self._marked_fraction * self._acks
            self._congested_rounds = self._congested_rounds + 1 if is_congested else 0
        self._acks = self._marked = 0
        self._round_end = self._next_index
        if self._congested_rounds >= self._rounds:
            self._repath(now_ns)

    def on_timeout(self, now_ns: int) -> None:
        """Take a new path, and suspend further changes."""
        self._change_entropy()
        waits = 1_000 + int(self.random.below(1_000))
        self._suspended_until_ns = now_ns + self._suspend_ns * waits // 1_000

    def _repath(self, now_ns: int) -> None:
        if now_ns >= self._suspended_until_ns:
            self._change_entropy()

    def _change_entropy(self) -> None:
        self._entropy = int(self.random.below(ENTROPIES))
        self._congested_rounds = 0
