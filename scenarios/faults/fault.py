# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What every fault has: a place in the network, times, and a text that gives it back. Model units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from scenarios.model.scenario import ScenarioError
from topologies.model import Link, Topology
from wire.input.validation import shown
from wire.units import NS_PER_MS, NS_PER_S, NS_PER_US

_UNITS_NS = {"ns": 1, "us": NS_PER_US, "ms": NS_PER_MS, "s": NS_PER_S}
_LONGEST_NS = 3_600 * NS_PER_S
_DURATION = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)(ns|us|ms|s)")
_LINK = re.compile(r"([^-#]+)-([^-#]+)(?:#([0-9]{1,4}))?")


class FaultError(ScenarioError):
    """A fault that cannot be, said in one line."""


def _read_duration(value: object) -> object:
    if not isinstance(value, str):
        return value
    found = _DURATION.fullmatch(value)
    if found is None:
        raise ValueError(f"must be a time with its unit such as 200us, not {shown(value)}")
    duration_ns = round(float(found[1]) * _UNITS_NS[found[2]])
    if duration_ns > _LONGEST_NS:
        raise ValueError(f"must be at most an hour, not {value}")
    return duration_ns


def write_duration(duration_ns: int) -> str:
    """A duration in the largest unit that leaves it whole."""
    unit = next(name for name in ("s", "ms", "us", "ns") if duration_ns % _UNITS_NS[name] == 0)
    return f"{duration_ns // _UNITS_NS[unit]}{unit}" if duration_ns else "0us"


Duration = Annotated[int, BeforeValidator(_read_duration), PlainSerializer(write_duration)]
"""ns; written as 200us, 1.5ms, 30ns or 2s."""


@dataclass(frozen=True)
class Span:
    """When a fault holds, as a report marks it; without an end it holds until the run is over."""

    label: str
    begin_ns: int
    end_ns: int | None


class Fault(BaseModel):
    """One thing that goes wrong. A subclass is a kind: its fields are what a person may set, by their aliases."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
    kind: ClassVar[str]
    summary: ClassVar[str]
    usage: ClassVar[str]

    place: str

    def check(self, topology: Topology) -> None:
        """FaultError if this network has no such place."""
        raise NotImplementedError

    def spans(self) -> Sequence[Span]:
        """When it holds."""
        raise NotImplementedError

    def seeded(self, seed: int) -> Fault:
        """The same with what is left to chance settled by a run's seed."""
        return self

    def switches(self, topology: Topology) -> frozenset[str]:
        """The switches that it makes do what only softswitch can."""
        return frozenset()

    def __str__(self) -> str:
        """The text that gives it back, every default told."""
        values = self.model_dump(by_alias=True, exclude={"place"}, exclude_none=True)
        return ",".join([f"{self.kind}:{self.place}", *(f"{name}={value}" for name, value in values.items())])


class LinkedFault(Fault):
    """One of a link: `place` is A-B for all links of two nodes, A-B#2 for the second of them."""

    def links(self, topology: Topology) -> tuple[Link, ...]:
        """The links that it is of. FaultError when there are none."""
        found = _LINK.fullmatch(self.place)
        if found is None:
            raise FaultError(f"{self.kind}: a link is written A-B or A-B#NUMBER, not {shown(self.place)}")
        for name in found.group(1, 2):
            if name not in topology.host and name not in topology.switch:
                raise FaultError(f"{self.kind}:{self.place}: no node {name!r} in this network")
        joining = [link for link in topology.links if {link.a.node, link.b.node} == set(found.group(1, 2))]
        if not joining:
            raise FaultError(f"{self.kind}:{self.place}: {found[1]} and {found[2]} are not linked")
        if found[3] is None:
            return tuple(joining)
        if not 1 <= int(found[3]) <= len(joining):
            raise FaultError(
                f"{self.kind}:{self.place}: there are {len(joining)} links between {found[1]} and {found[2]}"
            )
        return (joining[int(found[3]) - 1],)

    def check(self, topology: Topology) -> None:
        self.links(topology)
