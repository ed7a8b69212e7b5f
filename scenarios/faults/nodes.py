# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Faults of nodes: a switch restarts, or a switch or host stalls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from sfc_testbed.request.shown import shown
from sfc_testbed.scenarios.faults.fault import Duration, Fault, FaultError, Span
from sfc_testbed.topologies.model import Topology

_MOST_DIGITS = 6


def _read_count(value: object) -> object:
    if not isinstance(value, str):
        return value
    if not (value.isascii() and value.isdecimal() and len(value) <= _MOST_DIGITS):
        raise ValueError(f"must be a whole number of at most {_MOST_DIGITS} digits, not {shown(value)}")
    return int(value)


class SwitchRestart(Fault):
    """A switch that loses power with all its packets and state; its control plane configures it again afterwards.

    The default of `down` is the testbed's choice: real switches take seconds to minutes, longer than a whole run.
    Without `detect` the other switches keep routing over it. With `detect` they route around it that long after it
    went down, and over it again that long after it came back, as with a link.
    """

    kind: ClassVar[str] = "restart"
    summary: ClassVar[str] = "a switch loses its packets and state, and is down for a while"
    usage: ClassVar[str] = "restart:SWITCH,at=TIME[,down=DURATION][,detect=TIME]"

    at_ns: Duration = Field(alias="at", ge=0)
    down_ns: Duration = Field(50_000, alias="down", ge=0)
    detect_ns: Duration | None = Field(None, alias="detect", ge=0)

    @property
    def up_ns(self) -> int:
        """The time at which the switch works again."""
        return self.at_ns + self.down_ns

    def check(self, topology: Topology) -> None:
        if self.place in topology.host:
            raise FaultError(f"{self.kind}:{self.place}: only switches restart, and {self.place} is a host")
        if self.place not in topology.switch:
            raise FaultError(f"{self.kind}:{self.place}: no switch {self.place!r} in this network")

    def switches(self, topology: Topology) -> frozenset[str]:
        return frozenset({self.place})

    def spans(self) -> Sequence[Span]:
        return (Span(f"{self.place} restarts", self.at_ns, self.up_ns),)


class Stall(Fault):
    """A switch or host that neither receives nor sends for a while, then resumes.

    Frames that arrive during the stall wait in the receive ring of their port. The default of 1024 frames is the
    testbed's choice. A frame whose transmission has begun is completed.
    """

    kind: ClassVar[str] = "stall"
    summary: ClassVar[str] = "a switch or host stalls for a while"
    usage: ClassVar[str] = "stall:NODE,at=TIME,for=DURATION[,ring=FRAMES]"

    at_ns: Duration = Field(alias="at", ge=0)
    for_ns: Duration = Field(alias="for", gt=0)
    ring_frames: Annotated[int, BeforeValidator(_read_count)] = Field(1024, alias="ring", ge=0)

    @property
    def until_ns(self) -> int:
        """The time at which the node resumes."""
        return self.at_ns + self.for_ns

    def check(self, topology: Topology) -> None:
        self.check_node(self.place, topology)

    def switches(self, topology: Topology) -> frozenset[str]:
        return frozenset({self.place} & topology.switch.keys())

    def spans(self) -> Sequence[Span]:
        return (Span(f"{self.place} stalled", self.at_ns, self.until_ns),)
