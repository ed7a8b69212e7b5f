# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""softswitch as a switch of anybody's Mininet script.

    net = Mininet(controller=None)
    net.addSwitch("s1", cls=SoftSwitch, program="basic.json", commands="s1-commands.txt", rates_bps={2: 500_000})

Needs Mininet, a C compiler and this package, nothing else of the project.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from mininet.log import warn
from mininet.node import Switch

from compiled.cache import CacheRefused
from softswitch import links
from softswitch.build import BuildError
from softswitch.child import SwitchError, SwitchProcess
from softswitch.interfaces import turn_off_offloads
from softswitch.p4c import CompileError, program_json

__all__ = ["SoftSwitch", "SwitchError"]

Commands: TypeAlias = "str | Path | Sequence[str]"
"""The path of a file with lines of simple_switch_CLI, or the lines."""

PerPort: TypeAlias = "int | float | Mapping[int, int | float | None] | None"
"""One number for all ports, or numbers by port; None leaves it to the link."""


class SoftSwitch(Switch):  # type: ignore[misc]
    """A switch that runs a P4 program (v1model).

    `program`: BMv2 JSON, or a `.p4` where p4c-bm2-ss is on the PATH. `commands` are run at every start. `rates_bps` and
    `delays_ns`: of the wire that leaves by a port; where they say nothing, `bw` and `delay` of the port's link hold
    (those of a TCLink reach the host's end only, since a switch of packet sockets goes past `tc`), and without them a
    wire is infinitely fast. `thrift_port`: for simple_switch_CLI. `log_file`: what the switch complains of. `realtime`:
    run before ordinary processes, which keeps delays on a busy machine.

    All of these are attributes, read by `start`. The process ends with the thread that started it, however that ends.
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
            raise SwitchError(f"{name}: there is no program '{program}'")
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
        """Returns once it forwards and its commands have run. Raises SwitchError, in one line."""
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
        """Ends the process; `start` begins with empty tables and registers."""
        self._end()
        super().stop(deleteIntfs)

    def terminate(self) -> None:
        """Also when Mininet drops a switch that it never stopped."""
        self._end()
        super().terminate()

    def commands(self, *lines: str) -> list[str]:
        """What each control command prints. Raises SwitchError for the first that is refused."""
        if self._process is None:
            raise SwitchError(f"{self.name} is not running")
        return [self._process.command(line) for line in lines]

    @property
    def switch_pid(self) -> int | None:
        """The process that forwards; `pid` is that of Mininet's shell."""
        return None if self._process is None else self._process.pid

    @property
    def control_socket(self) -> Path | None:
        """Where it takes commands, see softswitch.control."""
        return None if self._process is None else self._process.control

    def _end(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None

    def _inside(self) -> list[str]:
        """What enters the switch's own namespace, if it has one."""
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
        """The wire of a port as control commands."""
        wished: Mapping[str, Any] = interface.params
        if unheard := links.not_modelled(wished):
            warn(
                f"\n{self.name}: {interface.name} has no {', '.join(unheard)}: a SoftSwitch's wire has rate and delay\n"
            )
        try:
            rate_bps = _of_port(self.rates_bps, port, links.rate_bps(wished))
            delay_ns = _of_port(self.delays_ns, port, links.delay_ns(wished))
        except ValueError as error:
            raise SwitchError(f"{self.name}: rate or delay of {interface.name}: {error}") from error
        lines = [] if rate_bps is None else [f"port_rate {port} {rate_bps}"]
        return lines if delay_ns is None else [*lines, f"port_delay {port} {delay_ns}"]

    def _run_first_commands(self) -> None:
        if not isinstance(self.first_commands, (str, Path)):
            self.commands(*self.first_commands)
            return
        try:
            lines = Path(self.first_commands).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise SwitchError(f"{self.name}: cannot read commands '{self.first_commands}': {error}") from error
        for number, line in enumerate(lines, start=1):
            try:
                self.commands(line)
            except SwitchError as error:
                raise SwitchError(f"{error} ({self.first_commands}:{number})") from None


def _of_port(setting: PerPort, port: int, of_link: int | None) -> int | None:
    """ValueError for what is no number."""
    own = setting.get(port) if isinstance(setting, Mapping) else setting
    return of_link if own is None else round(float(own))


def _make_frames_whole(interface: Any) -> None:
    """Both ends of a port's link, the far one wherever its node is."""
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
    """Compiled once for all switches of a script."""
    return program_json(program)
