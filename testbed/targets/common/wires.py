# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Propagation delay for switches that have none: netem where the kernel has it, else softswitch between a link's ends.

netem is asked for once in a scratch namespace and read back after it is set; a delay that is not there is an error. The
stand-in is softswitch running `switch-bmv2/wire.p4`, which joins port 2k to port 2k + 1: one process for many links.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from softswitch.build import build_executable
from softswitch.control import ControlClient
from testbed.errors import RunError
from testbed.system.child import Child
from testbed.targets.common.statistics import PartStatistics, softswitch_statistics
from topologies.model import Link, Port, Topology
from wire.dilation import Dilation

PROGRAM = Path(__file__).resolve().parents[3] / "switch-bmv2" / "artifacts" / "wire.json"
LINKS_PER_PROCESS = 254
OF_LINKS = ("port_link ", "port_impair ")
"""How commands to a switch begin that are about the link behind its port."""
_READY_SECONDS = 20.0
_NETEM_LIMIT_PACKETS = 1_000_000
_NETEM_TOLERANCE = 0.01
_NETEM_TOLERANCE_NS = 2_000
"""tc before iproute2 6.9 rounds a delay down to whole microseconds and to ticks of 64 ns, and once more to print it."""
_PROBED_NS = 50_000_000
"""A link of 1 us at --dilation 50000."""


@dataclass(frozen=True, slots=True)
class Builder:
    """A switch that sends a BTS at once, and when it should."""

    switch_id: int
    bts_latency_ns: int


@dataclass(frozen=True, slots=True)
class Wire:
    """A link that is cut in two: the interfaces in the middle, the one towards `link.a` first."""

    link: Link
    node: str
    ports: tuple[int, int]
    delays_ns: tuple[int, int]
    """Of what leaves at each: from the other end of the link."""
    builders: tuple[Builder | None, Builder | None] = (None, None)
    """At each end, a switch whose BTS must wait for the time that building one takes."""

    @property
    def interfaces(self) -> tuple[str, str]:
        return f"{self.node}-{self.ports[0]}", f"{self.node}-{self.ports[1]}"


def cut_links(topology: Topology, also: Collection[Link] = (), *, makes_bts: bool = False) -> tuple[Wire, ...]:
    """A wire for every link that has a delay, and for these; `node` is the process that delays.

    `makes_bts`: switches send BTS, and nobody else makes them wait while they are built.
    """
    builders = _builders(topology) if makes_bts else {}
    delays = {
        link: (topology.departure_delay_ns(link.b), topology.departure_delay_ns(link.a)) for link in topology.links
    }
    delayed = [
        link
        for link in topology.links
        if any(delays[link]) or link in also or link.a.node in builders or link.b.node in builders
    ]
    found = []
    for index, link in enumerate(delayed):
        process, place = divmod(index, LINKS_PER_PROCESS)
        ports = (2 * place + 2, 2 * place + 3)
        ends = (builders.get(link.a.node), builders.get(link.b.node))
        found.append(Wire(link, f"wires{process + 1}", ports, delays[link], ends))
    return tuple(found)


def _builders(topology: Topology) -> dict[str, Builder]:
    return {
        switch.name: Builder(switch.switch_id, switch.bts_latency_ns)
        for switch in topology.switches
        if switch.bts_latency_ns
    }


def missing_netem(delays_ns: Collection[int] = (_PROBED_NS,)) -> str | None:
    """Return why netem cannot delay frames by each of these wall times here, as one line; None if it can.

    A run's own command is tried in a scratch namespace: a kernel without netem and a tc that refuses or rounds off a
    delay are found before any link is made.
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


class WireProcess:
    """softswitch that stands between the ends of up to 254 links."""

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
        self.name = name
        self._wires = wires
        self._socket = state / f"{name}.control"
        commands = logs / f"{name}-commands.txt"
        commands.write_text("".join(f"{line}\n" for wire in wires for line in commands_of_wire(wire, dilation)))
        arguments = [str(executable), "--commands", str(commands), "--control", str(self._socket)]
        arguments += ["--epoch-ns", str(epoch_ns), "--die-with-parent", "--realtime"]
        for wire in wires:
            for port, interface in zip(wire.ports, wire.interfaces, strict=True):
                arguments += ["-i", f"{port}@{interface}"]
        self._child = Child(name, arguments, state.name, logs / f"{name}.log")
        self._control: ControlClient | None = None

    def wait_until_ready(self) -> None:
        """Returns once it forwards."""
        self._child.wait_for_line("ready", _READY_SECONDS)
        try:
            self._control = ControlClient(self._socket)
        except OSError as error:
            raise RunError(self._child.why_silent(error)) from error

    def trouble(self) -> str | None:
        """Why it does not delay any more, as one line."""
        return self._child.trouble()

    def plan(self, end: Port, at_ns: int, command: str) -> bool:
        """Has something done, so many wall ns after the epoch, to the port that stands in for an end of a link.

        `command` has {port} in the place of its number. False if that link is not one of this process's.
        """
        for wire in self._wires:
            for port, wired in zip(wire.ports, (wire.link.a, wire.link.b), strict=True):
                if wired == end:
                    self._command(f"at {at_ns} {command.format(port=port)}")
                    return True
        return False

    def statistics(self) -> PartStatistics:
        """What softswitch counts and measures here."""
        return softswitch_statistics(self.name, json.loads(self._command("statistics")))

    def _command(self, line: str) -> str:
        assert self._control is not None
        try:
            return self._control.command(line)
        except OSError as error:
            raise RunError(self._child.why_silent(error)) from error

    def stop(self) -> None:
        if self._control is not None:
            self._control.close()
        self._child.stop()


def command_of_wire(line: str) -> tuple[int, str]:
    """A command about the link of a switch's port: the port, and what the port that stands in is told (`plan`).

    What leaves the switch arrives at the wire, and the reverse.
    """
    name, port, *words = line.split(" ")
    if name == "port_impair":
        words[0] = {"in": "out", "out": "in"}[words[0]]
    return int(port), " ".join([name, "{port}", *words])


def start_wires(
    wires: Sequence[Wire], dilation: Dilation, state: Path, logs: Path, epoch_ns: int = 0
) -> list[WireProcess]:
    """A process for each `node` of the wires, in the current network namespace; not yet ready."""
    executable = build_executable(PROGRAM)
    nodes = dict.fromkeys(wire.node for wire in wires)
    return [
        WireProcess(node, [wire for wire in wires if wire.node == node], dilation, executable, state, logs, epoch_ns)
        for node in nodes
    ]


def commands_of_wire(wire: Wire, dilation: Dilation) -> list[str]:
    """Both directions' delay; the wire passes on what it carries, pause frames too, and does not obey them."""
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
    """Return shell text that sets a delay on what leaves an interface and prints the qdisc that is there now.

    The delay is written in microseconds: tc before iproute2 6.9 refuses nanoseconds.
    """
    delay = f"{delay_ns // 1000}.{delay_ns % 1000:03d}us"
    return (
        f"tc qdisc replace dev {interface} root netem limit {_NETEM_LIMIT_PACKETS} delay {delay} && "
        f"tc -j qdisc show dev {interface}"
    )


def check_netem(interface: str, delay_ns: int, answer: str) -> None:
    """Raise RunError unless `tc` reads back the delay that was asked for, as exactly as its oldest versions print it.

    A delay of 0 proves nothing: those versions also print a delay of 1 us as 0.
    """
    try:
        found = [each for each in json.loads(answer) if each["kind"] == "netem"]
        set_ns = found[0]["options"]["delay"]["delay"] * 1e9
    except (ValueError, LookupError, TypeError):
        set_ns = 0
    if not set_ns:
        raise RunError(f"no delay by netem on {interface}: tc said {' '.join(answer.split()) or 'nothing'}")
    if abs(set_ns - delay_ns) > max(_NETEM_TOLERANCE * delay_ns, _NETEM_TOLERANCE_NS):
        raise RunError(f"netem on {interface} delays frames by {set_ns:.0f} ns instead of {delay_ns} ns")
