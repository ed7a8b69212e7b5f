# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A Mininet switch class that runs softswitch, for any Mininet script.

    net = Mininet(controller=None)
    net.addSwitch("s1", cls=SoftSwitch, program="basic.json", commands="s1-commands.txt", rates_bps={2: 500_000})

Needs Mininet, a C compiler and this package, but no other part of the project.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from mininet.log import warn
from mininet.node import Switch

from os_helpers.cache import CacheRefused
from softswitch import links
from softswitch.build import BuildError
from softswitch.child import SwitchError, SwitchProcess
from softswitch.interfaces import turn_off_offloads
from softswitch.p4c import CompileError, program_json

__all__ = ["SoftSwitch", "SwitchError"]

Commands: TypeAlias = "str | Path | Sequence[str]"
"""The path of a file with simple_switch_CLI commands, or the commands themselves."""

PerPort: TypeAlias = "int | float | Mapping[int, int | float | None] | None"
"""A number for all ports, or numbers by port; None uses the link's parameters."""


class SoftSwitch(Switch):  # type: ignore[misc]
    """A switch that runs a P4 program (v1model).

    `program`: BMv2 JSON, or a `.p4` if p4c-bm2-ss is on the PATH. `commands`: control commands that run at every start.
    `rates_bps` and `delays_ns`: rate and delay of the outgoing wire of each port. For a port without a value, `bw` and
    `delay` of the port's link apply. The switch must apply them itself, because its packet sockets bypass `tc`. With a
    rate of the link, a queue holds its `max_queue_size`, or 64 packets. Without any value the wire is infinitely fast.
    `thrift_port`: TCP port for simple_switch_CLI. `log_file`: file for error output. `realtime`: run with real-time
    priority, which keeps delays exact on a busy machine.

    All of these are attributes that `start` reads. The switch process always ends with the thread that started it.
    """

    def __init__(
        self,
        name: str,
        *,
        program: str | Path,
        commands: Commands = (),
        rates_bps: PerPort = None,
        delays_ns: PerPort = None,
        thrift_port: int | None = None,
        log_file: str | Path | None = None,
        realtime: bool = False,
        **params: Any,
    ) -> None:
        if not Path(program).is_file():
            raise SwitchError(f"{name}: program '{program}' not found")
        self.program = program
        self.first_commands = commands
        self.rates_bps = rates_bps
        self.delays_ns = delays_ns
        self.thrift_port = thrift_port
        self.log_file = log_file
        self.realtime = realtime
        self._process: SwitchProcess | None = None
        super().__init__(name, **params)

    def start(self, controllers: Any) -> None:
        """Start the switch; return once it forwards and its commands have run. Raises SwitchError with one line."""
        self._end()
        if self.inNamespace and self.thrift_port is not None:
            raise SwitchError(f"{self.name}: thrift_port cannot be reached in a namespace of the switch's own")
        ports = {port: interface for port, interface in sorted(self.intfs.items()) if interface.name != "lo"}
        settings = [line for port, interface in ports.items() for line in self._settings(port, interface)]
        for interface in ports.values():
            _make_frames_whole(interface)
        log = Path(self.log_file) if self.log_file else None
        self._process = SwitchProcess(
            self.name, self._arguments(ports), thrift_port=self.thrift_port, inside=self._inside(), log=log
        )
        try:
            self.commands(*settings)
            self._run_first_commands()
        except BaseException:
            self._end()
            raise

    def stop(self, deleteIntfs: bool = True) -> None:
        """End the process; the next `start` begins with empty tables and registers."""
        self._end()
        super().stop(deleteIntfs)

    def terminate(self) -> None:
        """End the process of a switch that Mininet drops without calling `stop`."""
        self._end()
        super().terminate()

    def commands(self, *lines: str) -> list[str]:
        """Run control commands and return their outputs. Raises SwitchError for the first refused command."""
        if self._process is None:
            raise SwitchError(f"{self.name} is not running")
        return [self._process.command(line) for line in lines]

    @property
    def switch_pid(self) -> int | None:
        """The PID of the switch process; `pid` is the PID of Mininet's shell."""
        return None if self._process is None else self._process.pid

    @property
    def control_socket(self) -> Path | None:
        """The path of the switch's control socket (see softswitch.control)."""
        return None if self._process is None else self._process.control

    def _end(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _inside(self) -> list[str]:
        """Return the command prefix that enters the switch's own namespace, if it has one."""
        return ["mnexec", "-a", str(self.pid)] if self.inNamespace else []

    def _arguments(self, ports: Mapping[int, Any]) -> list[str]:
        words = [word for port, interface in ports.items() for word in ("-i", f"{port}@{interface.name}")]
        if self.realtime:
            words.append("--realtime")
        try:
            return [*words, str(_json_of(Path(self.program).resolve(), Path(self.program).stat().st_mtime_ns))]
        except (BuildError, CacheRefused, CompileError, OSError) as error:
            raise SwitchError(f"{self.name}: {error}") from error

    def _settings(self, port: int, interface: Any) -> list[str]:
        """Return the control commands that set rate and delay of a port's wire."""
        parameters: Mapping[str, Any] = interface.params
        if ignored := links.unsupported_parameters(parameters):
            warn(
                f"\n{self.name}: {interface.name} has no {', '.join(ignored)}: a SoftSwitch's wire has rate and delay\n"
            )
        try:
            rate_bps = _port_value(self.rates_bps, port, links.rate_bps(parameters))
            delay_ns = _port_value(self.delays_ns, port, links.delay_ns(parameters))
            depth = links.queue_depth(parameters) if _port_value(self.rates_bps, port, None) is None else None
        except ValueError as error:
            raise SwitchError(f"{self.name}: rate, delay or queue of {interface.name}: {error}") from error
        values = {f"port_rate {port}": rate_bps, f"port_delay {port}": delay_ns}
        lines = [f"{command} {value}" for command, value in values.items() if value is not None]
        return lines if depth is None else [*lines, f"set_queue_depth {depth} {port}"]

    def _run_first_commands(self) -> None:
        if not isinstance(self.first_commands, (str, Path)):
            self.commands(*self.first_commands)
            return
        try:
            lines = Path(self.first_commands).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SwitchError(f"{self.name}: cannot read commands '{self.first_commands}': {error}") from error
        for number, line in enumerate(lines, start=1):
            try:
                self.commands(line)
            except SwitchError as error:
                raise SwitchError(f"{error} ({self.first_commands}:{number})") from None


def _port_value(setting: PerPort, port: int, link_value: int | None) -> int | None:
    """Return the setting of a port, or the link's value without one. Raise ValueError if it is not a number."""
    value = setting.get(port) if isinstance(setting, Mapping) else setting
    return link_value if value is None else round(float(value))


def _make_frames_whole(interface: Any) -> None:
    """Turn off the offloads at both ends of a port's link, also if the far node has its own namespace."""
    ends = [interface]
    if interface.link is not None:
        ends = [interface.link.intf1, interface.link.intf2]
    for end in ends:
        try:
            turn_off_offloads(end.name, end.node.pid)
        except OSError as error:
            warn(f"\n{end.name}: its offloads stay on ({error}), so TCP and UDP may not pass\n")


@cache
def _json_of(program: Path, _modified_ns: int) -> Path:
    """Return the BMv2 JSON of a program, compiled once for all switches of a script."""
    return program_json(program)
