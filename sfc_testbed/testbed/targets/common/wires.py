# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Propagation delay for switches that cannot delay frames: netem if the kernel has it, else softswitch as a delay line.

netem is tried once in a scratch namespace. On each interface the delay is read back after it is set, and a missing
delay is an error. The delay line is softswitch running `switch-bmv2/wire.p4`, which forwards between ports 2k and
2k + 1. One process serves many links.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfc_testbed.place import PACKAGE
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.program.sources import ARTIFACTS
from sfc_testbed.testbed.targets.common.softswitch_child import SoftswitchChild
from sfc_testbed.topologies.model import Link, Port, Switch, Topology
from sfc_testbed.wire.dilation import Dilation
from softswitch.build import build_executable

PROGRAM = PACKAGE / ARTIFACTS / "wire.json"
LINKS_PER_PROCESS = 254
LINK_COMMANDS = ("port_link ", "port_impair ")
"""Prefixes of the switch commands that concern the link behind a port."""
_NETEM_LIMIT_PACKETS = 1_000_000
_NETEM_TOLERANCE = 0.01
_NETEM_TOLERANCE_NS = 2_000
"""tc before iproute2 6.9 rounds a delay down to whole microseconds and to ticks of 64 ns, and again when printing."""
_PROBED_NS = 50_000_000
"""The wall delay of a 1 us link at --dilation 50000."""


@dataclass(frozen=True, slots=True)
class Wire:
    """A link cut in two. The pairs describe the interfaces in the middle, the one towards `link.a` first."""

    link: Link
    node: str
    ports: tuple[int, int]
    delays_ns: tuple[int, int]
    """Delay of the frames that leave at each port, which come from the other end of the link."""
    builders: tuple[Switch | None, Switch | None] = (None, None)
    """The switch at each end whose BTS must be delayed by the time that building one takes."""

    @property
    def interfaces(self) -> tuple[str, str]:
        return f"{self.node}-{self.ports[0]}", f"{self.node}-{self.ports[1]}"


def cut_links(topology: Topology, also: Collection[Link] = (), *, makes_bts: bool = False) -> tuple[Wire, ...]:
    """Return a wire for every link with a delay and for the links in `also`. A wire's `node` names its delay process.

    With `makes_bts`, links of switches with a BTS latency are cut too, since the wires have to delay their BTS.
    """
    builders = {switch.name: switch for switch in topology.switches if makes_bts and switch.bts_latency_ns}
    delays = {
        link: (topology.departure_delay_ns(link.b), topology.departure_delay_ns(link.a)) for link in topology.links
    }
    delayed = [
        link
        for link in topology.links
        if any(delays[link]) or link in also or link.a.node in builders or link.b.node in builders
    ]
    wires = []
    for index, link in enumerate(delayed):
        process, place = divmod(index, LINKS_PER_PROCESS)
        ports = (2 * place + 2, 2 * place + 3)
        ends = (builders.get(link.a.node), builders.get(link.b.node))
        wires.append(Wire(link, f"wires{process + 1}", ports, delays[link], ends))
    return tuple(wires)


def missing_netem(delays_ns: Collection[int] = (_PROBED_NS,)) -> str | None:
    """Return why netem cannot delay frames by each of these wall times on this machine, as one line; None if it can.

    The command of the run is tried in a scratch namespace. This detects a kernel without netem, and a tc that refuses
    or rounds off a delay, before any link is created.
    """
    for delay_ns in sorted(set(delays_ns) - {0}):
        script = 'ip link set lo up && eval "$1"'
        words = ["unshare", "--net", "sh", "-c", script, "sh", netem_command("lo", delay_ns)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            check_netem("lo", delay_ns, done.stdout + done.stderr)
        except FileNotFoundError:
            return "unshare is not installed"
        except RunError as error:
            return str(error)
    return None


class WireProcess(SoftswitchChild):
    """A softswitch process that forwards between the ends of up to 254 cut links."""

    def __init__(
        self,
        name: str,
        wires: Sequence[Wire],
        dilation: Dilation,
        executable: Path,
        state: Path,
        logs: Path,
        epoch_ns: int,
    ) -> None:
        self._wires = wires
        commands = (line for wire in wires for line in commands_of_wire(wire, dilation))
        ends = (end for wire in wires for end in zip(wire.ports, wire.interfaces, strict=True))
        super().__init__(name, executable, state, logs, epoch_ns, commands=commands, interfaces=dict(ends))

    def plan(self, end: Port, at_ns: int, command: str) -> bool:
        """Schedule a command, at wall ns after the epoch, for the port of this process next to an end of a link.

        `command` contains {port} in place of the port number. Return False if the process does not serve the link.
        """
        for wire in self._wires:
            for port, wired in zip(wire.ports, (wire.link.a, wire.link.b), strict=True):
                if wired == end:
                    self.command(f"at {at_ns} {command.format(port=port)}")
                    return True
        return False


def command_of_wire(line: str) -> tuple[int, str]:
    """Return the port of a switch command about a link, and the same command for the wire (see `WireProcess.plan`).

    Directions are swapped: frames that leave the switch enter the wire.
    """
    name, port, *words = line.split(" ")
    if name == "port_impair":
        words[0] = {"in": "out", "out": "in"}[words[0]]
    return int(port), " ".join([name, "{port}", *words])


def start_wires(
    wires: Sequence[Wire], dilation: Dilation, state: Path, logs: Path, epoch_ns: int = 0
) -> list[WireProcess]:
    """Start a process for each `node` of the wires, in the current network namespace, without waiting for it."""
    executable = build_executable(PROGRAM)
    nodes = dict.fromkeys(wire.node for wire in wires)
    return [
        WireProcess(node, [wire for wire in wires if wire.node == node], dilation, executable, state, logs, epoch_ns)
        for node in nodes
    ]


def commands_of_wire(wire: Wire, dilation: Dilation) -> list[str]:
    """Return the commands for both directions' delay and the extra delay of new BTS.

    The wire forwards pause frames and does not obey them.
    """
    lines = [
        line
        for port, delay_ns in zip(wire.ports, wire.delays_ns, strict=True)
        for line in (f"port_delay {port} {dilation.wall_ns(delay_ns)}", f"port_mac_control {port} off")
    ]
    for port, other, builder in zip(wire.ports, reversed(wire.ports), wire.builders, strict=True):
        if builder is not None:
            lines += [
                f"mirroring_add {other} {other}",
                f"mirroring_delay {other} {dilation.wall_ns(builder.bts_latency_ns)}",
                f"table_add built_here wait {port} {builder.switch_id} => {other}",
            ]
    return lines


def netem_command(interface: str, delay_ns: int) -> str:
    """Return a shell command that delays the frames leaving an interface and prints the resulting qdisc.

    The delay is written in microseconds: tc before iproute2 6.9 refuses nanoseconds.
    """
    delay = f"{delay_ns // 1000}.{delay_ns % 1000:03d}us"
    return (
        f"tc qdisc replace dev {interface} root netem limit {_NETEM_LIMIT_PACKETS} delay {delay} && "
        f"tc -j qdisc show dev {interface}"
    )


def check_netem(interface: str, delay_ns: int, answer: str) -> None:
    """Raise RunError unless `tc` reports the requested delay, within the rounding of its oldest versions.

    A reported delay of 0 is refused too: those versions also print a delay of 1 us as 0.
    """
    try:
        qdiscs = [qdisc for qdisc in json.loads(answer) if qdisc["kind"] == "netem"]
        set_ns = qdiscs[0]["options"]["delay"]["delay"] * 1e9
    except (ValueError, LookupError, TypeError):
        set_ns = 0
    if not set_ns:
        raise RunError(f"netem has set no delay on {interface}; output of tc: {' '.join(answer.split()) or 'none'}")
    if abs(set_ns - delay_ns) > max(_NETEM_TOLERANCE * delay_ns, _NETEM_TOLERANCE_NS):
        raise RunError(f"netem on {interface} delays frames by {set_ns:.0f} ns instead of {delay_ns} ns")
