# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Base types of faults: a place in the network, times, and a text form. Model units."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from sfc_testbed.request.quantities import in_unit
from sfc_testbed.request.shown import shown
from sfc_testbed.scenarios.model.scenario import ScenarioError, random_stream
from sfc_testbed.topologies.model import Link, Topology
from sfc_testbed.wire.units import NS_PER_MS, NS_PER_S, NS_PER_US

_UNITS_NS = {"ns": 1, "us": NS_PER_US, "ms": NS_PER_MS, "s": NS_PER_S}
_LONGEST_NS = 3_600 * NS_PER_S
MAX_SEED = 2**31 - 1
"""The largest seed: a random stream combines 31 bits of seed with 32 bits that identify its link."""
_LINK = re.compile(r"([^-#]+)-([^-#]+)(?:#([0-9]{1,4}))?")


class FaultError(ScenarioError):
    """An invalid fault; the message is one line."""


def _read_duration(value: object) -> object:
    if not isinstance(value, str):
        return value
    duration_ns = round(in_unit(value, "ns"))
    if duration_ns > _LONGEST_NS:
        raise ValueError(f"must be at most an hour, not {value}")
    return duration_ns


def write_duration(duration_ns: int) -> str:
    """Format a duration in the largest unit in which it is a whole number."""
    unit = next(name for name in ("s", "ms", "us", "ns") if duration_ns % _UNITS_NS[name] == 0)
    return f"{duration_ns // _UNITS_NS[unit]}{unit}" if duration_ns else "0us"


Duration = Annotated[int, BeforeValidator(_read_duration), PlainSerializer(write_duration)]
"""A duration in ns; written as 200us, 1.5ms, 30ns or 2s."""


@dataclass(frozen=True)
class Span:
    """The interval in which a fault is active, as reports mark it; without an end it lasts until the end of the run."""

    label: str
    begin_ns: int
    end_ns: int | None


class Fault(BaseModel):
    """A fault in the network. A subclass is a kind; users set its fields by their aliases."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)
    kind: ClassVar[str]
    summary: ClassVar[str]
    usage: ClassVar[str]
    reorders: ClassVar[bool] = False
    """Whether the fault makes packets of a flow overtake one another."""

    place: str

    @classmethod
    def with_parameters(cls, names: Collection[str]) -> type[Fault]:
        """Return the class of a fault of this kind with these parameters."""
        return cls

    def check(self, topology: Topology) -> None:
        """Raise FaultError if this network has no such place."""
        raise NotImplementedError

    def spans(self) -> Sequence[Span]:
        """Return the intervals in which the fault is active."""
        raise NotImplementedError

    def seeded(self, seed: int) -> Fault:
        """Return this fault with a seed that derives from the run's seed, if it draws at random and has none."""
        if getattr(self, "seed", 0) is not None:
            return self
        return self.model_copy(update={"seed": int(random_stream(seed, f"fault {self}").integers(MAX_SEED + 1))})

    def switches(self, topology: Topology) -> frozenset[str]:
        """Return the switches on which the fault needs a function that only softswitch has."""
        return frozenset()

    def check_node(self, name: str, topology: Topology) -> None:
        """Raise FaultError if this network has no node of this name."""
        if name not in topology.host and name not in topology.switch:
            raise FaultError(f"{self.kind}:{self.place}: no node {name!r} in this network")

    def __str__(self) -> str:
        """Return the text that parses to this fault, with every default written out."""
        values = self.model_dump(by_alias=True, exclude={"place"}, exclude_none=True)
        return ",".join([f"{self.kind}:{self.place}", *(f"{name}={value}" for name, value in values.items())])


class LinkedFault(Fault):
    """A fault of links: `place` is A-B for all links between two nodes, A-B#2 for the second of these links."""

    def links(self, topology: Topology) -> tuple[Link, ...]:
        """Return the affected links. FaultError if there are none."""
        match = _LINK.fullmatch(self.place)
        if match is None:
            raise FaultError(f"{self.kind}: a link is written A-B or A-B#NUMBER, not {shown(self.place)}")
        for name in match.group(1, 2):
            self.check_node(name, topology)
        joining = [link for link in topology.links if {link.a.node, link.b.node} == set(match.group(1, 2))]
        if not joining:
            raise FaultError(f"{self.kind}:{self.place}: {match[1]} and {match[2]} are not linked")
        if match[3] is None:
            return tuple(joining)
        if not 1 <= int(match[3]) <= len(joining):
            raise FaultError(
                f"{self.kind}:{self.place}: there are {len(joining)} links between {match[1]} and {match[2]}"
            )
        return (joining[int(match[3]) - 1],)

    def check(self, topology: Topology) -> None:
        self.links(topology)
