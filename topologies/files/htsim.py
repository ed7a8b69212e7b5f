# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Topology files of htsim (`.topo`): fat trees of two or three tiers, as UEC's htsim and its relatives read them.

A line is `NAME NUMBER`. `Nodes`, `Tiers` and `Podsize` come first, then each tier: `Radix_Down`, `Radix_Up`,
`Downlink_speed_Gbps`, `Downlink_Latency_ns`, `Switch_Latency_ns`, `Oversubscribed` and `Bundle`, the parallel links to
each switch below. The numbers of switches follow from them as in the simulator (docs/sources.md#network-files).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from sfc_testbed.request.shown import nearest, shown
from sfc_testbed.topologies.files.description import (
    MAX_DELAY_NS,
    DescribedLink,
    Description,
    NetworkFileError,
    bounded_rate,
)
from sfc_testbed.topologies.model import MAX_HOSTS

_HEAD = ("nodes", "tiers", "podsize")
_OF_TIER = {
    "radix_down": MAX_HOSTS,
    "radix_up": MAX_HOSTS,
    "downlink_speed_gbps": 100_000,
    "downlink_latency_ns": MAX_DELAY_NS,
    "switch_latency_ns": MAX_DELAY_NS,
    "oversubscribed": MAX_HOSTS,
    "bundle": 509,
    "queue_up": 10**12,
    "queue_down": 10**12,
}
"""The names of a tier, with the largest value."""
_MOST_DIGITS = 12


@dataclass
class _Tier:
    values: dict[str, int] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)


def is_htsim(text: str) -> bool:
    """Whether the first line that is no comment has a name of the head."""
    for line in text.split("\n"):
        words = line.split()
        if words and not words[0].startswith("#"):
            return words[0].lower() in _HEAD
    return False


def read_htsim(text: str) -> Description:
    """Return the network of a topology file. NetworkFileError names an invalid line."""
    head, tiers = _values(text)
    for name in _HEAD:
        if name not in head.values:
            raise NetworkFileError(f"{name.capitalize()} is missing")
    count = head.values["tiers"]
    if count not in (2, 3):
        raise NetworkFileError(f"Tiers must be 2 or 3, not {count}", head.lines["tiers"])
    for number in range(count):
        for name in ("radix_down", *(["radix_up"] if number < count - 1 else [])):
            if not tiers.get(number, _Tier()).values.get(name):
                raise NetworkFileError(f"tier {number} has no {name.title()}")
    return _Tree(head.values["nodes"], head.values["podsize"], [tiers[number] for number in range(count)]).describe()


def _values(text: str) -> tuple[_Tier, dict[int, _Tier]]:
    head, tiers = _Tier(), dict[int, _Tier]()
    current = head
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        name = words[0].lower()
        known = {**dict.fromkeys(_HEAD, MAX_HOSTS), "tier": 2} if current is head else {**_OF_TIER, "tier": 2}
        if name not in known:
            raise NetworkFileError(f"unknown attribute {shown(words[0])}{nearest(name, known)}", number)
        value = _number(words, known[name], number)
        if name == "tier":
            current = tiers.setdefault(value, _Tier())
            continue
        if name in current.values:
            raise NetworkFileError(f"{words[0]} is given twice, first in line {current.lines[name]}", number)
        current.values[name], current.lines[name] = value, number
    return head, tiers


def _number(words: list[str], most: int, line: int) -> int:
    is_number = len(words) == 2 and words[1].isascii() and words[1].isdecimal() and len(words[1]) <= _MOST_DIGITS
    if not is_number or int(words[1]) > most:
        raise NetworkFileError(f"{words[0]} is a whole number up to {most}, not {shown(' '.join(words[1:]))}", line)
    return int(words[1])


@dataclass
class _Tree:
    """A fat tree. The switches of each tier follow from the radixes below."""

    nodes: int
    pod_size: int
    tiers: list[_Tier]

    def describe(self) -> Description:
        hosts_per_tor = self._of(0, "radix_down")
        tors_per_pod = self._whole(self.pod_size, hosts_per_tor, "Podsize is no multiple of tier 0's Radix_Down")
        pods = self._whole(self.nodes, self.pod_size, "Nodes is no multiple of Podsize")
        aggs_per_pod = self._uppers(0, tors_per_pod)
        cores = self._uppers(1, pods * aggs_per_pod) if len(self.tiers) == 3 else 0
        planes = self._whole(cores, aggs_per_pod, "cores are no multiple of a pod's aggregation switches")
        if pods > 1 and len(self.tiers) == 2:
            raise NetworkFileError("a network of two tiers has one pod, so Podsize must equal Nodes")
        names = {
            kind: [f"{kind}{number + 1}" for number in range(count)]
            for kind, count in (
                ("h", self.nodes),
                ("tor", pods * tors_per_pod),
                ("agg", pods * aggs_per_pod),
                ("core", cores),
            )
        }
        links = [
            *self._links(0, ((names["h"][at], names["tor"][at // hosts_per_tor]) for at in range(self.nodes))),
            *self._links(1, _pods(names["tor"], tors_per_pod, names["agg"], aggs_per_pod)),
            *self._links(2, _planes(names["agg"], aggs_per_pod, names["core"], planes)),
        ]
        latencies = {
            name: latency_ns
            for kind, tier in zip(("tor", "agg", "core"), self.tiers, strict=False)
            if (latency_ns := tier.values.get("switch_latency_ns", 0))
            for name in names[kind]
        }
        queues = any(name.startswith("queue") for tier in self.tiers for name in tier.values)
        return Description(
            names["h"],
            [*names["tor"], *names["agg"], *names["core"]],
            links,
            lambda number: 1,
            may_repeat=True,
            pass_latency_ns=latencies,
            notes=["queue sizes are not used; set switch.buffer_bytes"] if queues else [],
        )

    def _uppers(self, tier: int, lowers: int) -> int:
        """Return the number of switches above `lowers` switches of a tier, in one pod or in all."""
        up, down, bundle = self._of(tier, "radix_up"), self._of(tier + 1, "radix_down"), self._bundle(tier + 1)
        uppers = self._whole(lowers * up, down, f"uplinks of tier {tier} do not fill tier {tier + 1}'s Radix_Down")
        per_lower = uppers if tier == 0 else self._whole(uppers, self._uppers(0, self._tors()), "cores")
        if per_lower * bundle != up:
            wanted = f"{per_lower} switches with a Bundle of {bundle}"
            raise NetworkFileError(
                f"tier {tier} has a Radix_Up of {up}, but there are {wanted} above each of its switches",
                self.tiers[tier].lines["radix_up"],
            )
        ratio = self.tiers[tier].values.get("oversubscribed", 1)
        if tier == 0 and self._of(0, "radix_down") // up != ratio:
            raise NetworkFileError(
                f"tier 0 has {self._of(0, 'radix_down')} links down and {up} up, which is not Oversubscribed {ratio}",
                self.tiers[0].lines.get("oversubscribed", self.tiers[0].lines["radix_up"]),
            )
        return uppers

    def _tors(self) -> int:
        return self.pod_size // self._of(0, "radix_down")

    def _of(self, tier: int, name: str) -> int:
        return self.tiers[tier].values[name]

    def _bundle(self, tier: int) -> int:
        return self.tiers[tier].values.get("bundle", 1)

    def _whole(self, number: int, divisor: int, refused: str) -> int:
        if divisor == 0 or number % divisor:
            raise NetworkFileError(f"{refused} ({number} and {divisor})")
        return number // divisor

    def _links(self, tier: int, pairs: Iterator[tuple[str, str]]) -> Iterator[DescribedLink]:
        """Yield the links below a tier."""
        if tier >= len(self.tiers):
            return
        values, lines = self.tiers[tier].values, self.tiers[tier].lines
        gbps = values.get("downlink_speed_gbps")
        rate_bps = None if gbps is None else bounded_rate(f"{gbps}Gbps", lines["downlink_speed_gbps"])
        for a, b in pairs:
            for _ in range(self._bundle(tier)):
                yield DescribedLink(a, b, rate_bps, values.get("downlink_latency_ns"))


def _pods(tors: list[str], tors_per_pod: int, aggs: list[str], aggs_per_pod: int) -> Iterator[tuple[str, str]]:
    for number, tor in enumerate(tors):
        first = number // tors_per_pod * aggs_per_pod
        for agg in aggs[first : first + aggs_per_pod]:
            yield tor, agg


def _planes(aggs: list[str], aggs_per_pod: int, cores: list[str], per_plane: int) -> Iterator[tuple[str, str]]:
    for number, agg in enumerate(aggs if cores else []):
        first = number % aggs_per_pod * per_plane
        for core in cores[first : first + per_plane]:
            yield agg, core
