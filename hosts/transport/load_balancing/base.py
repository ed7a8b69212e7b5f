# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The base class of the hosts' load balancings: the choice of an entropy for each data packet.

The entropy is a number that switches hash to choose among equal-cost paths: the lower 14 bits of a data packet's UDP
source port. The receiver echoes the source port of the packet that it answers, so that the sender learns which entropy
an acknowledgement is for (docs/wire-format.md#data).
"""

from typing import Any, ClassVar, Final

from mypy_extensions import i64, mypyc_attr

from sfc_testbed.hosts.transport.congestion.base import NoParameters, PathContext

ENTROPIES: Final = 0x4000
"""Number of different entropies: ROCE_SOURCE_PORT_QPN_MASK + 1."""

_WORD_MASK: Final = 0xFFFF_FFFF
_SEED_FACTOR: Final = 0x9E37_79B1
_WORD_BITS: Final = 32


class RandomNumbers:
    """A reproducible sequence of pseudo-random numbers, which the seed determines (xorshift, Marsaglia 2003)."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state: i64 = (seed * _SEED_FACTOR & _WORD_MASK) or 1
        for _ in range(4):
            self.below(1)

    def below(self, bound: i64) -> i64:
        """Return a number from 0 to `bound` - 1; `bound` is at most 2^30."""
        state = self._state
        state ^= state << 13 & _WORD_MASK
        state ^= state >> 17
        state ^= state << 5 & _WORD_MASK
        self._state = state
        return state * bound >> _WORD_BITS


@mypyc_attr(allow_interpreted_subclasses=True)
class LoadBalancing:
    """Base class of the hosts' load balancings, and the one named "flow": a queue pair keeps its entropy.

    Override `entropy` and the hooks that you need. The hooks are not called unless `entropy` is overridden.
    `Parameters` is a frozen dataclass in model units, but `__init__` gets its `_ns` and `_bps` fields in wall units.
    """

    __slots__ = ("first_entropy", "random")

    Parameters: ClassVar[type[Any]] = NoParameters
    ecn_capable: ClassVar[bool] = False
    """Whether `on_ack` uses ECN marks, so that data packets must be ECN-capable. Switches must mark packets, too."""
    reorders: ClassVar[bool] = False
    """Whether successive packets of a flow take different paths, so that they may overtake one another."""

    @classmethod
    def resolve(cls, parameters: Any, path: PathContext) -> Any:
        """Return the parameters with unset values derived from the path. Both must be in the same units."""
        return parameters

    def __init__(self, parameters: Any, path: PathContext, first_entropy: int, seed: int) -> None:
        """Start with the entropy of the queue pair; `seed` depends on both ends of the queue pair."""
        self.first_entropy = first_entropy
        self.random = RandomNumbers(seed)

    def entropy(self, index: int, in_flight: int, now_ns: int) -> int:
        """Return the entropy, from 0 to `ENTROPIES` - 1, of packet `index`, which starts on the wire now.

        `in_flight` is the number of packets in flight before it.
        """
        return self.first_entropy

    def on_ack(self, entropy: int, ecn_marked: bool, acknowledged: int, now_ns: int) -> None:
        """Handle an ACK or NAK for a packet that arrived with this entropy.

        Every packet before `acknowledged` has arrived. With `ack_every` above 1, only the packets that request an
        acknowledgement have one, and `ecn_marked` includes the packets since the last one.
        """

    def on_timeout(self, now_ns: int) -> None:
        """Handle a retransmission timeout."""
