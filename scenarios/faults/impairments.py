# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Link impairments: a share of frames is lost, corrupted, duplicated, reordered or delayed. Model units.

Kinds that netem also has use netem's names. A link is impaired in both directions unless `towards` selects one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, model_validator

from sfc_testbed.request.shown import shown
from sfc_testbed.scenarios.faults.fault import MAX_SEED, Duration, Fault, FaultError, LinkedFault, Span
from sfc_testbed.topologies.model import Link, Port, Topology
from sfc_testbed.wire.constants import BTS_UDP_PORT

ALL_LINKS = "all"
PPB = 1_000_000_000
_PPB_PER_PERCENT = PPB // 100
_SHARE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,12})?)(%?)")
_COMMON = "[,from=TIME][,until=TIME][,towards=NODE][,seed=NUMBER]"
_PLACE = "A-B|NODE|all"


def _read_share(value: object) -> object:
    return read_share(value) if isinstance(value, str) else value


def read_share(value: str) -> int:
    """Return a share such as 1% or 0.01 in parts per billion. ValueError for any other text."""
    match = _SHARE.fullmatch(value)
    if match is None:
        raise ValueError(f"must be a share such as 1% or 0.01, not {shown(value)}")
    share_ppb = round(float(match[1]) * (_PPB_PER_PERCENT if match[2] else PPB))
    if not 1 <= share_ppb <= PPB:
        raise ValueError(f"must be above 0 and at most 100%, not {value}")
    return share_ppb


def write_share(share_ppb: int) -> str:
    """Return a share of parts per billion in percent."""
    percent, rest = divmod(share_ppb, _PPB_PER_PERCENT)
    return f"{percent}.{rest:07d}".rstrip("0").rstrip(".") + "%"


def _read_seed(value: object) -> object:
    return int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,19}", value) else value


def _positive(duration_ns: int) -> int:
    if duration_ns == 0:
        raise ValueError("must be longer than 0")
    return duration_ns


Share = Annotated[int, BeforeValidator(_read_share), PlainSerializer(write_share)]
"""A share of the frames in parts per billion; written as 1% or 0.01."""
Seed = Annotated[int, BeforeValidator(_read_seed)]
Hold = Annotated[Duration, AfterValidator(_positive)]


class Impairment(LinkedFault):
    """An impairment that affects a random share of a link's frames in a time interval, drawn for each frame.

    `place` is a link (A-B), a node for all of its links, or `all`. The default seed derives from the run's seed.
    """

    switch_kind: ClassVar[str | None] = None
    """The switch's name for this kind (its c/control/impairments.c), if it differs from `kind`."""
    udp_port: ClassVar[int | None] = None
    """UDP destination port of the affected packets; None: all frames."""

    rate_ppb: Share = Field(alias="rate")
    from_ns: Duration = Field(0, alias="from", ge=0)
    until_ns: Duration | None = Field(None, alias="until")
    towards: str | None = None
    seed: Seed | None = Field(None, ge=0, le=MAX_SEED)

    @model_validator(mode="after")
    def _until_after_from(self) -> Impairment:
        if self.until_ns is not None and self.until_ns <= self.from_ns:
            raise ValueError("until must come after from")
        return self

    @property
    def hold_ns(self) -> int:
        """The longest time that an affected frame is held back."""
        return 0

    def links(self, topology: Topology) -> tuple[Link, ...]:
        if self.place == ALL_LINKS:
            return topology.links
        if "-" in self.place:
            return super().links(topology)
        self.check_node(self.place, topology)
        return tuple(link for link in topology.links if self.place in (link.a.node, link.b.node))

    def directions(self, topology: Topology) -> tuple[tuple[Port, Port], ...]:
        """Return the affected directions as pairs of sending and receiving port."""
        ends = [ends for link in self.links(topology) for ends in ((link.a, link.b), (link.b, link.a))]
        directions = tuple(pair for pair in ends if self.towards in (None, pair[1].node))
        if not directions:
            raise FaultError(f"{self.kind}:{self.place}: none of its links leads towards {shown(self.towards)}")
        return directions

    def check(self, topology: Topology) -> None:
        self.directions(topology)

    def spans(self) -> Sequence[Span]:
        return (Span(f"{self.place} {self.kind} {write_share(self.rate_ppb)}", self.from_ns, self.until_ns),)

    def meets(self, other: Impairment) -> bool:
        """Whether the two impairments overlap in time."""
        first, second = sorted((self, other), key=lambda impairment: impairment.from_ns)
        return first.until_ns is None or second.from_ns < first.until_ns


class Loss(Impairment):
    """Loss of frames of every type: data, acknowledgments, BTS packets, pause frames."""

    kind: ClassVar[str] = "loss"
    summary: ClassVar[str] = "a link loses frames"
    usage: ClassVar[str] = f"loss:{_PLACE},rate=FRACTION{_COMMON}"


class BtsLoss(Impairment):
    """Loss of BTS packets only, without TCP signals. A BTS that crosses several such links may be lost on each."""

    kind: ClassVar[str] = "bts-loss"
    switch_kind: ClassVar[str | None] = "udp_loss"
    udp_port: ClassVar[int | None] = BTS_UDP_PORT
    summary: ClassVar[str] = "a link loses BTS packets only"
    usage: ClassVar[str] = f"bts-loss:{_PLACE},rate=FRACTION{_COMMON}"


class Corruption(Impairment):
    """Corruption of frames: the receiving switch or host drops them because their check sequence is wrong."""

    kind: ClassVar[str] = "corrupt"
    summary: ClassVar[str] = "a link corrupts frames; the receiving MAC detects and drops them"
    usage: ClassVar[str] = f"corrupt:{_PLACE},rate=FRACTION{_COMMON}"


class Duplication(Impairment):
    """Duplication of frames: the copy arrives directly behind the frame."""

    kind: ClassVar[str] = "duplicate"
    summary: ClassVar[str] = "a link delivers frames twice"
    usage: ClassVar[str] = f"duplicate:{_PLACE},rate=FRACTION{_COMMON}"


class Reordering(Impairment):
    """Reordering: frames are held back for a time, and frames sent meanwhile overtake them.

    The default is the testbed's choice: at 100 Gb/s a dozen packets of 1 KB overtake, more than any loss recovery
    tolerates.
    """

    kind: ClassVar[str] = "reorder"
    summary: ClassVar[str] = "a link holds frames back, and others overtake them"
    usage: ClassVar[str] = f"reorder:{_PLACE},rate=FRACTION[,by=TIME]{_COMMON}"
    reorders: ClassVar[bool] = True

    by_ns: Hold = Field(1_000, alias="by")

    @property
    def hold_ns(self) -> int:
        return self.by_ns


class Jitter(Impairment):
    """Delay of frames, drawn uniformly from 0 to `max`. Their order and the minimum gap between them are kept."""

    kind: ClassVar[str] = "jitter"
    summary: ClassVar[str] = "a link delays frames by random times and keeps their order"
    usage: ClassVar[str] = f"jitter:{_PLACE},max=TIME[,rate=FRACTION]{_COMMON}"

    rate_ppb: Share = Field(PPB, alias="rate")
    max_ns: Hold = Field(alias="max")

    @property
    def hold_ns(self) -> int:
        return self.max_ns


IMPAIRMENTS: tuple[type[Impairment], ...] = (Loss, BtsLoss, Corruption, Duplication, Reordering, Jitter)


def check_overlaps(faults: Iterable[Fault], topology: Topology) -> None:
    """Raise FaultError if a link has two impairments of one kind at a time: it would be unclear which rate applies."""
    by_sender: dict[tuple[str, Port], list[Impairment]] = {}
    for fault in faults:
        if not isinstance(fault, Impairment):
            continue
        for sender, receiver in fault.directions(topology):
            earlier = by_sender.setdefault((fault.kind, sender), [])
            if any(fault.meets(other) for other in earlier):
                raise FaultError(
                    f"{fault.kind}:{fault.place}: the link from {sender.node} to {receiver.node} has a "
                    f"{fault.kind} at that time already"
                )
            earlier.append(fault)
