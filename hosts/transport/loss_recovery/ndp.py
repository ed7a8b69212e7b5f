# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""NDP: the receiver pulls (Handley et al., SIGCOMM 2017, section 3.2; docs/sources.md#ndp).

A message begins with an initial window, sent blindly. After that a packet goes out for each pull: one whose header came
without its data first, else a new one. The order of arrivals says nothing, for paths may differ from packet to packet.
A header that came back leaves its packet to the next pull; only a sender that expects none sends it again itself.

Its paper times every packet. Here one timer for the flow, which every sign of the receiver sets back, holds all that is
under way for lost, and takes one packet's leave to send, from which the receiver's pulls go on. It runs while nothing
is under way, too: the pull that a sender waits for may be lost.
"""

from dataclasses import dataclass, replace
from typing import Final

from mypy_extensions import mypyc_attr

from hosts.transport.congestion.base import PathContext
from hosts.transport.loss_recovery.base import KeepingOrder, LossRecovery
from wire.input.validation import Count, PositiveCount, PositiveNanoseconds

_PULL_MASK: Final = 0xFFFFFF
_PULL_HALF: Final = 1 << 23


@dataclass(frozen=True, slots=True)
class NdpParameters:
    """Knobs of NDP (docs/sources.md#ndp)."""

    initial_window_packets: Count = 0
    """Packets that are sent without a pull; 0: one BDP."""

    rto_ns: PositiveNanoseconds = 1_000_000
    """Silence of the receiver after which all that is under way counts as lost. Its paper finds 1 ms long enough; htsim
    waits 50 ms."""

    held_packets: PositiveCount = 1 << 16
    """How far ahead of a gap the receiver keeps packets; beyond, they are dropped."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Ndp(LossRecovery):
    """State: leave to send so many packets, which later packets have arrived, and which are to be sent again."""

    __slots__ = ("_arrived", "_credit", "_last_pull", "_lost", "_owed", "_rto_ns", "_window")

    Parameters = NdpParameters
    Order = KeepingOrder
    is_pulled = True

    @classmethod
    def resolve(cls, parameters: NdpParameters, path: PathContext) -> NdpParameters:
        """The initial window fills the path."""
        window = parameters.initial_window_packets or max(1, -(-path.bdp_bytes // path.payload_bytes))
        return replace(parameters, initial_window_packets=window)

    def __init__(self, parameters: NdpParameters, path: PathContext, rto_ns: int, first_index: int) -> None:
        super().__init__(parameters, path, rto_ns, first_index)
        self._window = parameters.initial_window_packets
        self._credit = self._window
        self._rto_ns = parameters.rto_ns
        self._last_pull = -1
        self._owed = 0  # pulls to be expected for what was sent
        self._arrived: set[int] = set()
        self._lost: dict[int, None] = {}  # the first to be sent again first

    def next_packet(self) -> int:
        """With leave to send: what is to be sent again, else a new one."""
        if self._credit <= 0:
            return -1
        return next(iter(self._lost)) if self._lost else self.next_new

    def in_flight(self) -> int:
        """Packets sent, less those that arrived early and those to be sent again."""
        return self.next_new - self.cumulative - len(self._arrived) - len(self._lost)

    def on_sent(self, index: int, now_ns: int) -> None:
        """It takes one leave and may bring a pull."""
        self._credit -= 1
        self._owed += 1
        if index == self.next_new:
            self.next_new = index + 1
        else:
            self._lost.pop(index, None)
        self._set_back(now_ns)

    def on_ack(self, cumulative: int, selective: int, negative: bool, now_ns: int) -> int:
        """What has arrived. A receiver that misses first what it told to have is not believed any more."""
        for index in range(self.cumulative, cumulative):
            self._arrived.discard(index)
            self._lost.pop(index, None)
        self.cumulative = cumulative
        found = 0
        if cumulative in self._arrived:
            found = len(self._arrived)
            self._lost.update(dict.fromkeys(sorted(self._arrived)))
            self._arrived.clear()
        if selective > cumulative:
            self._arrived.add(selective)
            self._lost.pop(selective, None)
        self._set_back(now_ns)
        return found

    def on_trimmed(self, index: int, now_ns: int) -> int:
        """Its header has arrived without its data."""
        self._set_back(now_ns)
        return self._lose(index)

    def on_returned(self, index: int, now_ns: int) -> int:
        """Its header has come back: the receiver knows nothing of it, and no pull will come for it."""
        if self._owed > 0:
            self._owed -= 1
        found = self._lose(index)
        if found and self._owed == 0 and self._credit <= 0:
            self._credit = 1
        self._set_back(now_ns)
        return found

    def on_pull(self, number: int, now_ns: int) -> None:
        """Leave to send as many packets as its number has advanced, but no more than an initial window."""
        gained = 1 if self._last_pull < 0 else (number - self._last_pull) & _PULL_MASK
        if gained >= _PULL_HALF:
            return
        self._last_pull = number
        self._credit = min(self._credit + gained, self._window)
        self._owed = max(0, self._owed - gained)
        self._set_back(now_ns)

    def on_timer(self, now_ns: int) -> int:
        """The receiver has been silent."""
        before = len(self._lost)
        for index in range(self.cumulative, self.next_new):
            if index not in self._arrived:
                self._lost[index] = None
        self._credit = max(1, self._credit)
        self._owed = 0
        self._set_back(now_ns)
        return len(self._lost) - before

    def _lose(self, index: int) -> int:
        if not self.cumulative <= index < self.next_new or index in self._arrived or index in self._lost:
            return 0
        self._lost[index] = None
        return 1

    def _set_back(self, now_ns: int) -> None:
        self.deadline_ns = now_ns + self._rto_ns
