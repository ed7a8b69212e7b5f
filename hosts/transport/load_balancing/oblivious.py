# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Oblivious packet spraying by entropy, as in the UEC simulator (docs/sources.md#load-balancing-of-hosts)."""

from dataclasses import dataclass
from typing import Annotated, Literal

from mypy_extensions import mypyc_attr
from pydantic import Field

from sfc_testbed.hosts.transport.congestion.base import PathContext
from sfc_testbed.hosts.transport.load_balancing.base import ENTROPIES, LoadBalancing

EntropyCount = Annotated[int, Field(ge=1, le=ENTROPIES)]


@dataclass(frozen=True, slots=True)
class ObliviousParameters:
    """Parameters of oblivious spraying. The defaults are the UEC simulator's."""

    entropies: EntropyCount = 64
    """Number of entropies that a queue pair uses, a power of two."""
    order: Literal["shuffled", "round-robin", "random"] = "shuffled"
    """"shuffled": each entropy once, in a new order for each pass. "round-robin": in the same order for each pass.
    "random": each entropy independently of all others."""

    def __post_init__(self) -> None:
        if self.entropies & self.entropies - 1:
            raise ValueError(f"entropies: must be a power of two, not {self.entropies}")


@mypyc_attr(allow_interpreted_subclasses=True)
class Oblivious(LoadBalancing):
    """A sender that uses all its entropies equally and ignores acknowledgements.

    A pass XORs the numbers of the entropies with one random number, as the UEC simulator does. The queue pair's own
    entropy determines the upper bits of the set.
    """

    __slots__ = ("_base", "_count", "_mask", "_order", "_xor")

    Parameters = ObliviousParameters
    reorders = True

    def __init__(self, parameters: ObliviousParameters, path: PathContext, first_entropy: int, seed: int) -> None:
        super().__init__(parameters, path, first_entropy, seed)
        self._order: str = parameters.order
        self._mask = parameters.entropies - 1
        self._base = int(self.random.below(ENTROPIES)) & ~self._mask
        self._xor = int(self.random.below(parameters.entropies))
        self._count = 0

    def entropy(self, index: int, in_flight: int, now_ns: int) -> int:
        """Return the next entropy of the set."""
        if self._order == "random":
            return self._base | int(self.random.below(self._mask + 1))
        entropy = self._base | (self._count ^ self._xor)
        self._count += 1
        if self._count > self._mask:
            self._count = 0
            if self._order == "shuffled":
                self._xor = int(self.random.below(self._mask + 1))
        return entropy
