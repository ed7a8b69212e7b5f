# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What the live prompt can say beyond Mininet's own verbs: looking into switches and changing them.

A verb takes the words after it and gives text; it speaks to switches through control commands alone, so that every
target understands it. Knows neither Mininet nor how a switch runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Protocol

from testbed.targets.common.counters import SwitchCounts
from topologies.model import Topology
from wire.constants import (
    CACHE_KEY_ADDRESS_SHIFT,
    CACHE_KEY_DSCP_SHIFT,
    CACHE_RING_PLACES,
    CLASS_BITS,
    CLASS_COUNT,
    DSCP_MASK,
)
from wire.dilation import Dilation


class LiveSwitch(Protocol):
    """A running switch."""

    name: str

    def command(self, line: str) -> str:
        """Executes one control command; ValueError when it is refused."""

    def counts(self) -> SwitchCounts:
        """What the P4 program counted."""


class VerbError(ValueError):
    """A verb used wrongly, in one line."""


@dataclass(frozen=True)
class Verb:
    """A word of the prompt."""

    usage: str
    summary: str
    run: Callable[[Sequence[str]], str]

    def __call__(self, words: Sequence[str]) -> str:
        return self.run(words)

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        """What the prompt's `help` says of it."""
        return f"{self.usage}: {self.summary}"


class Verbs:
    """The verbs of one live network."""

    def __init__(self, topology: Topology, dilation: Dilation, switches: Sequence[LiveSwitch]) -> None:
        self._topology = topology
        self._dilation = dilation
        self._switches = {switch.name: switch for switch in switches}

    def table(self) -> Mapping[str, Verb]:
        """Word -> verb."""
        return {
            "queues": Verb("queues [SWITCH]", "bytes held now, by port and class", self._queues),
            "bts": Verb("bts [SWITCH]", "BTS and pause frames sent and suppressed, by cause", self._bts),
            "drops": Verb("drops [SWITCH]", "packets dropped by the P4 program, by reason", self._drops),
            "cache": Verb("cache SWITCH", "live entries of the pause cache", self._cache),
            "set_rate": Verb("set_rate SWITCH PORT GBPS", "changes a port's rate (model Gb/s)", self._set_rate),
            "p4": Verb("p4 SWITCH COMMAND...", "any control command, as simple_switch_CLI knows them", self._command),
            "printSwitches": Verb("printSwitches", "switches and what their ports lead to", self._print_switches),
        }

    def _chosen(self, words: Sequence[str], usage: str) -> list[LiveSwitch]:
        if len(words) > 1:
            raise VerbError(f"usage: {usage}")
        return [self._switch(words[0])] if words else list(self._switches.values())

    def _switch(self, name: str) -> LiveSwitch:
        if name not in self._switches:
            raise VerbError(f"no switch {name!r}; there are {', '.join(self._switches)}")
        return self._switches[name]

    def _register(self, switch: LiveSwitch, register: str, index: int) -> int:
        return int(switch.command(f"register_read {register} {index}").rpartition("=")[2])

    def _queues(self, words: Sequence[str]) -> str:
        lines: list[str] = []
        for switch in self._chosen(words, "queues [SWITCH]"):
            lines.append(f"{switch.name}: {self._register(switch, 'buffer_bytes', 0)} bytes in all queues")
            for port in self._topology.ports[switch.name]:
                if not self._register(switch, "port_bytes", port.number):
                    continue
                for traffic_class in range(CLASS_COUNT):
                    held = self._register(switch, "queue_bytes", port.number << CLASS_BITS | traffic_class)
                    if held:
                        lines.append(f"  port {port.number} to {port.peer.node}, class {traffic_class}: {held}")
        return "\n".join(lines)

    def _bts(self, words: Sequence[str]) -> str:
        lines: list[str] = []
        for switch in self._chosen(words, "bts [SWITCH]"):
            counts = switch.counts()
            seen = [f"{event.label} {count}" for event, count in counts.bts.items() if count]
            seen += [f"pause_{event.label} {count}" for event, count in counts.pfc.items() if count]
            lines.append(f"{switch.name}: {', '.join(seen) or 'none'}")
        return "\n".join(lines)

    def _drops(self, words: Sequence[str]) -> str:
        lines: list[str] = []
        for switch in self._chosen(words, "drops [SWITCH]"):
            drops = switch.counts().drops
            lines.append(
                f"{switch.name}: {', '.join(f'{reason} {count}' for reason, count in drops.items()) or 'none'}"
            )
        return "\n".join(lines)

    def _cache(self, words: Sequence[str]) -> str:
        if len(words) != 1:
            raise VerbError("usage: cache SWITCH")
        switch = self._switch(words[0])
        head, tail = (self._register(switch, "cache_ring_ends", end) for end in (0, 1))
        lines = [f"{switch.name}: {tail - head} live entries, {self._register(switch, 'cache_max_entries', 0)} at most"]
        for turn in range(head, tail):
            place = self._register(switch, "cache_ring", turn % CACHE_RING_PLACES)
            key = self._register(switch, "cache_key", place)
            end_us = self._register(switch, "cache_end_us", place)
            address = IPv4Address(key >> CACHE_KEY_ADDRESS_SHIFT)
            dscp = key >> CACHE_KEY_DSCP_SHIFT & DSCP_MASK
            lines.append(f"  {self._host_name(address)} {address}, DSCP {dscp}: paused until {end_us} us of its clock")
        return "\n".join(lines)

    def _host_name(self, address: IPv4Address) -> str:
        return next((host.name for host in self._topology.hosts if host.ip == address), "?")

    def _set_rate(self, words: Sequence[str]) -> str:
        try:
            name, port, gbps = words
            wall_bps = self._dilation.wall_bps(float(gbps) * 1e9)
        except ValueError as error:
            raise VerbError("usage: set_rate SWITCH PORT GBPS") from error
        self._switch(name).command(f"port_rate {port} {wall_bps}")
        return f"{name} port {port}: {gbps} Gb/s ({wall_bps} bit/s on the wall clock)"

    def _command(self, words: Sequence[str]) -> str:
        if len(words) < 2:
            raise VerbError("usage: p4 SWITCH COMMAND...")
        return self._switch(words[0]).command(" ".join(words[1:]))

    def _print_switches(self, words: Sequence[str]) -> str:
        lines: list[str] = []
        for switch in self._chosen(words, "printSwitches"):
            ports = ", ".join(f"{port.number}->{port.peer.node}" for port in self._topology.ports[switch.name])
            lines.append(f"{switch.name}: {ports}")
        return "\n".join(lines)
