# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""REPS, Recycled Entropy Packet Spraying (Bonato et al., arXiv 2407.21625; docs/sources.md#load-balancing-of-hosts).

A sender explores random entropies for the first packets. After that, it sends each packet with an entropy that an
unmarked acknowledgement has brought back, once for each acknowledgement, and explores if there is none. After a timeout
the sender is in freezing mode for a while: instead of exploring, it uses again the entropies that it has used last.
"""

from dataclasses import dataclass, replace

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.congestion.base import PathContext
from sfc_testbed.hosts.transport.load_balancing.base import ENTROPIES, LoadBalancing
from sfc_testbed.hosts.transport.load_balancing.oblivious import EntropyCount
from sfc_testbed.request.checks import Count, Nanoseconds, PositiveCount


@dataclass(frozen=True, slots=True)
class RepsParameters:
    """Parameters of REPS. The defaults are the UEC simulator's, except for the packets that explore."""

    entropies: EntropyCount = 64
    """Number of entropies among which a queue pair explores."""
    buffer_entropies: PositiveCount = 8
    """Length of the circular buffer of recycled entropies (REPS_BUFFER_SIZE)."""
    explore_packets: Count = 0
    """Packets that explore at the start and after freezing mode; 0: one BDP (NUM_PKTS_BDP)."""
    uses: PositiveCount = 1
    """How often a recycled entropy is used. With ack_every=n, n uses keep the recycled entropies sufficient."""
    freezing_ns: Nanoseconds = 10_000_000
    """Least duration of freezing mode after a timeout; 0: no freezing mode."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Reps(LoadBalancing):
    """REPS's sender. Its state is the circular buffer, the packets left to explore, and the end of freezing mode.

    `_uses` has the remaining uses of each entropy in the buffer; an entropy without remaining uses is used again only
    in freezing mode. `_valid` is the number of entropies with remaining uses, which are the newest ones, and `_frozen`
    the place of the entropy that freezing mode used last.
    """

    __slots__ = (
        "_buffer", "_explore", "_explore_packets", "_freezing_ns", "_frozen", "_head", "_most_uses", "_set_base",
        "_set_size", "_size", "_thaw_ns", "_uses", "_valid", "is_freezing",
    )  # fmt: skip

    Parameters = RepsParameters
    ecn_capable = True
    reorders = True

    @classmethod
    def resolve(cls, parameters: RepsParameters, path: PathContext) -> RepsParameters:
        """Return the parameters with the exploring packets set to one BDP if they are unset."""
        packets = parameters.explore_packets or max(1, -(-path.bdp_bytes // path.payload_bytes))
        return replace(parameters, explore_packets=packets)

    def __init__(self, parameters: RepsParameters, path: PathContext, first_entropy: int, seed: int) -> None:
        super().__init__(parameters, path, first_entropy, seed)
        self._set_size = parameters.entropies
        self._set_base = int(self.random.below(ENTROPIES))
        self._size = parameters.buffer_entropies
        self._most_uses = parameters.uses
        self._freezing_ns = parameters.freezing_ns
        self._explore_packets = self._explore = parameters.explore_packets
        self._buffer: list[int] = []
        self._uses: list[int] = []
        self._head = self._valid = self._frozen = 0
        self._thaw_ns = 0
        self.is_freezing = False
        """Whether the sender is in freezing mode."""

    def entropy(self, index: int, in_flight: int, now_ns: int) -> int:
        """Return a recycled entropy, or else a random one, or in freezing mode one that was used before."""
        if self._explore > 0 or not self._buffer or not (self._valid or self.is_freezing):
            self._explore = max(0, self._explore - 1)
            return (self._set_base + int(self.random.below(self._set_size))) % ENTROPIES
        if self._valid:
            return self._take((self._head - self._valid) % len(self._buffer))
        self._frozen = (self._frozen + 1) % len(self._buffer)
        return self._buffer[self._frozen]

    def on_ack(self, entropy: int, ecn_marked: bool, acknowledged: int, now_ns: int) -> None:
        """Recycle the entropy of an unmarked packet, and end freezing mode when its time is over."""
        if not ecn_marked:
            self._recycle(entropy)
        if self.is_freezing and now_ns > self._thaw_ns:
            self.is_freezing = False
            self._explore = self._explore_packets

    def on_timeout(self, now_ns: int) -> None:
        """Begin freezing mode, unless the sender still explores."""
        if self._freezing_ns and not self.is_freezing and self._explore == 0:
            self.is_freezing = True
            self._thaw_ns = now_ns + self._freezing_ns

    def _take(self, place: int) -> int:
        self._uses[place] -= 1
        if self._uses[place] == 0:
            self._valid -= 1
        return self._buffer[place]

    def _recycle(self, entropy: int) -> None:
        if self._head == len(self._buffer):
            self._buffer.append(entropy)
            self._uses.append(0)
        if self._uses[self._head]:
            self._valid -= 1
        self._buffer[self._head] = entropy
        self._uses[self._head] = self._most_uses
        self._valid += 1
        self._head = (self._head + 1) % self._size
