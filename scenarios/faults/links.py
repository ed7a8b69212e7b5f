# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Faults of whole links: links that are down or slow, named or drawn at random. Model units."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar

from pydantic import Field, model_validator

from sfc_testbed.scenarios.faults.fault import MAX_SEED, Duration, Fault, FaultError, LinkedFault, Span
from sfc_testbed.scenarios.faults.impairments import PPB, Seed, Share, read_share, write_share
from sfc_testbed.scenarios.model.scenario import random_stream
from sfc_testbed.topologies.model import Link, Topology

_DOWN = "down=TIME[,up=TIME][,detect=TIME]"
_SLOW = "rate=SHARE[,from=TIME][,until=TIME]"


class LinkDown(LinkedFault):
    """A link that is cut at both ends: frames that are sent on it or are in flight on it are lost.

    Switches route around it `detect` after it went down, and over it again `detect` after it came back. The default is
    the testbed's choice. It is long enough to show the losses before rerouting, and short enough that a run of a
    millisecond shows the network afterwards. In practice, a switch detects loss of light on its own port within
    microseconds; a control plane takes milliseconds to recompute routes. Set `detect` for the case you study.
    """

    kind: ClassVar[str] = "link"
    summary: ClassVar[str] = "a link goes down and optionally up again; switches route around it. Or a link is slow"
    usage: ClassVar[str] = f"link:A-B,{_DOWN}, or link:A-B,{_SLOW}"

    down_ns: Duration = Field(alias="down", ge=0)
    up_ns: Duration | None = Field(None, alias="up")
    detect_ns: Duration = Field(50_000, alias="detect", ge=0)

    @model_validator(mode="after")
    def _up_after_down(self) -> LinkDown:
        if self.up_ns is not None and self.up_ns <= self.down_ns:
            raise ValueError("up must come after down")
        return self

    @classmethod
    def with_parameters(cls, names: Collection[str]) -> type[Fault]:
        return SlowLink if "rate" in names and "down" not in names else cls

    def spans(self) -> Sequence[Span]:
        return (Span(f"{self.place} down", self.down_ns, self.up_ns),)


class SlowLink(LinkedFault):
    """A link whose ends send at a share of its rate, as after the loss of lanes.

    Switches know the rate of their own ports, so telemetry and pauses use the lower rate. Routes and thresholds stay.
    A NIC sends frames and pulls at the lower rate. Its queue pairs that become active begin with the window and the
    rate of such a NIC; active queue pairs keep theirs.
    """

    kind: ClassVar[str] = "link"
    summary: ClassVar[str] = LinkDown.summary
    usage: ClassVar[str] = f"link:A-B,{_SLOW}"

    rate_ppb: Share = Field(alias="rate")
    from_ns: Duration = Field(0, alias="from", ge=0)
    until_ns: Duration | None = Field(None, alias="until")

    @model_validator(mode="after")
    def _is_slower_for_a_time(self) -> SlowLink:
        if self.rate_ppb == PPB:
            raise ValueError("rate must be below 100%")
        if self.until_ns is not None and self.until_ns <= self.from_ns:
            raise ValueError("until must come after from")
        return self

    def rate_bps(self, link: Link) -> int:
        """Return the rate of a link during the fault."""
        return max(1, link.rate_bps * self.rate_ppb // PPB)

    def spans(self) -> Sequence[Span]:
        return (Span(f"{self.place} at {write_share(self.rate_ppb)}", self.from_ns, self.until_ns),)


class _RandomLinks(LinkedFault):
    """A fault of a random share of the links between switches; `place` is the share. The run's seed decides."""

    seed: Seed | None = Field(None, ge=0, le=MAX_SEED)

    @property
    def keeps_connected(self) -> bool:
        """Whether links are left out whose fault would disconnect hosts."""
        return True

    def links(self, topology: Topology) -> tuple[Link, ...]:
        try:
            share_ppb = read_share(self.place)
        except ValueError as error:
            raise FaultError(f"{self.kind}:{self.place}: {error}") from error
        between = [link for link in topology.links if not {link.a.node, link.b.node} & topology.host.keys()]
        count = round(len(between) * share_ppb / PPB)
        if count == 0:
            raise FaultError(f"{self.kind}:{self.place}: of {len(between)} links between switches, this is not one")
        order = random_stream(self.seed or 0, f"links {self.kind}").permutation(len(between)).tolist()
        shuffled = [between[place] for place in order]
        chosen = _without_cuts(topology, shuffled, count) if self.keeps_connected else shuffled[:count]
        if len(chosen) < count:
            raise FaultError(
                f"{self.kind}:{self.place}: {count} of {len(between)} links, but only {len(chosen)} can go down "
                "without disconnecting hosts"
            )
        is_chosen = set(chosen)
        return tuple(link for link in between if link in is_chosen)


class LinksDown(_RandomLinks, LinkDown):
    """Random links between switches that are cut. Links without which hosts would be disconnected are left out."""

    kind: ClassVar[str] = "links"
    summary: ClassVar[str] = "a random share of the links between switches goes down, or is slow"
    usage: ClassVar[str] = f"links:SHARE,{_DOWN}[,seed=NUMBER], or links:SHARE,{_SLOW}[,seed=NUMBER]"

    @classmethod
    def with_parameters(cls, names: Collection[str]) -> type[Fault]:
        return SlowLinks if "rate" in names and "down" not in names else cls


class SlowLinks(_RandomLinks, SlowLink):
    """Random links between switches that are slow."""

    kind: ClassVar[str] = "links"
    summary: ClassVar[str] = LinksDown.summary
    usage: ClassVar[str] = f"links:SHARE,{_SLOW}[,seed=NUMBER]"

    @property
    def keeps_connected(self) -> bool:
        return False


def _without_cuts(topology: Topology, links: Sequence[Link], count: int) -> list[Link]:
    """Return the first links, up to a count, that can be removed together without disconnecting any host."""
    peers: dict[str, list[tuple[str, Link]]] = {switch.name: [] for switch in topology.switches}
    for link in links:
        peers[link.a.node].append((link.b.node, link))
        peers[link.b.node].append((link.a.node, link))
    tors = {tor.name for tor in topology.tors}
    chosen: dict[Link, None] = {}
    for link in links:
        if len(chosen) == count:
            break
        chosen[link] = None
        ends = (link.a.node, link.b.node)
        sides = [_reached(peers, chosen, *ends), _reached(peers, chosen, *reversed(ends))]
        if link.b.node not in sides[0] and all(side & tors for side in sides):
            del chosen[link]
    return list(chosen)


def _reached(
    peers: Mapping[str, Sequence[tuple[str, Link]]], gone: Collection[Link], begin: str, goal: str
) -> set[str]:
    """Return the switches that a switch reaches without some links; the search ends at the goal."""
    reached = {begin}
    waiting = [begin]
    for switch in waiting:
        for peer, link in peers[switch]:
            if peer not in reached and link not in gone:
                reached.add(peer)
                if peer == goal:
                    return reached
                waiting.append(peer)
    return reached
