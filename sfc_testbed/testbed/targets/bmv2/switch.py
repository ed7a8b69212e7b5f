# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A BMv2 switch of a live run: its `simple_switch`, the connection to it, its poller and its probes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from sfc_testbed.telemetry.queue_samples import samples_file
from sfc_testbed.testbed.control_plane.entries import Command, TableEntry
from sfc_testbed.testbed.control_plane.features import SUPPRESSION_BY_CLOCK
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.program.declared import Program
from sfc_testbed.testbed.targets.bmv2.control import Bmv2Control
from sfc_testbed.testbed.targets.bmv2.poller import QueuePoller, poll_interval_ns
from sfc_testbed.testbed.targets.bmv2.probes import PROBE_ROUTE, Prober
from sfc_testbed.testbed.targets.bmv2.process import LocalSwitch, SwitchSpec
from sfc_testbed.testbed.targets.bmv2.slots import port_slots, slot_commands
from sfc_testbed.testbed.targets.common.commands import SAMPLE_NS
from sfc_testbed.testbed.targets.common.counters import SwitchCounts, one_by_one, read_counts
from sfc_testbed.testbed.targets.common.statistics import PartStatistics
from softswitch.control import CommandError

if TYPE_CHECKING:
    from sfc_testbed.testbed.targets.bmv2.container import (
        ContainerSwitch,  # Docker's module loads slowly and is rarely needed
    )

SwitchHost: TypeAlias = "LocalSwitch | ContainerSwitch"
"""A running `simple_switch`, as a local process or in a container."""
_PROBE_SECONDS = 0.1
_RECEIVED, _SENT = 0, 8
_HEADINGS = 2
"""Columns and headings of /proc/net/dev."""
_TIME_MODULUS_US = 1 << 48
"""Modulus of `time_us_t` in the P4 program."""


class Bmv2Switch:
    """A `simple_switch` with its set-up, commands, queue samples and lateness."""

    def __init__(
        self, plan: RunPlan, spec: SwitchSpec, start: Callable[[SwitchSpec], SwitchHost], prober: Prober
    ) -> None:
        """Start the process by calling `start`, which is called again after `halt`."""
        self.name = spec.name
        self._plan = plan
        self._spec = spec
        self._start = start
        self._host = start(spec)
        self._set_up: tuple[Program, int, Path] | None = None
        self._prober = prober
        self._control: Bmv2Control | None = None
        self._poller: QueuePoller | None = None
        self.clock_lag_ns = 0
        """The offset from BMv2's clock, which starts with the process, to the run's epoch."""
        self._may_lack_carrier = False
        self.ghost_bytes = 0
        """Bytes that the queue registers still counted at the end of the run, although the queues were empty."""

    @property
    def has_ended(self) -> bool:
        return self._host.has_ended

    def obituary(self) -> str:
        return self._host.obituary()

    def trouble(self) -> str | None:
        """Return why the switch no longer forwards or cannot be polled, as one line, or None."""
        if self._poller is not None and self._poller.failure is not None:
            # the connection may end shortly before the process does
            return self._host.why_silent(ConnectionError(self._poller.failure))
        return self._host.trouble()

    def set_up(self, program: Program, epoch_ns: int, commands: Path) -> None:
        """Wait for the Thrift server, execute the commands, measure the clock offset, and start polling."""
        self._set_up = (program, epoch_ns, commands)
        self._control = Bmv2Control(self._host.connect(), program)
        try:
            self._configure(self._control, epoch_ns, commands)
            self._poller = self._new_poller(self._control, epoch_ns, commands)
        except OSError as error:
            raise RunError(f"cannot be set up: {self._host.why_silent(error)}") from error
        self._poller.start()

    def command(self, line: Command | str) -> str:
        assert self._control is not None
        try:
            if isinstance(line, str) and line.startswith("port_rate "):
                return self._set_port_rate(line.split()[1:])
            if _is_about_link(line):
                return self._set_port_link(line.split()[1:])
            return self._control.command(in_phase(line, self.clock_lag_ns))
        except OSError as error:
            raise RunError(self._host.why_silent(error)) from error

    def counts(self) -> SwitchCounts:
        return read_counts(one_by_one(self.command), (port.number for port in self._plan.topology.ports[self.name]))

    def queued_bytes(self) -> int:
        return int(self.command("register_read buffer_bytes 0").rpartition("=")[2])

    def statistics(self) -> PartStatistics:
        """Return the lateness. BMv2 does not count drops: frames that it loses are unexplained loss of the run."""
        lateness = self._prober.lateness()
        details = {"lateness": {"probes": None if lateness is None else asdict(lateness)}}
        return PartStatistics(self.name, lateness, details=details)

    def stop(self) -> None:
        assert self._poller is not None
        self._poller.finish()
        with suppress(RunError):  # a switch that is gone has no registers to read
            if self.queued_bytes():
                time.sleep(_PROBE_SECONDS)  # the last probe may still be in a queue
                self.ghost_bytes = self.queued_bytes()
        self.halt()

    def halt(self) -> None:
        if self._poller is not None:
            self._poller.stop()
        if self._control is not None:
            self._control.close()
        self._host.stop()

    def start_again(self, changes: Sequence[Command | str]) -> None:
        assert self._set_up is not None
        self._control = None
        for about_link in filter(_is_about_link, changes):
            self._set_port_link(about_link.split()[1:])
        self._host = self._start(self._spec)
        self._prober.reset()
        self._may_lack_carrier = True  # a fault may have taken a link down
        self.set_up(*self._set_up)
        for line in changes:
            if not _is_about_link(line):
                self.command(line)

    def end(self) -> None:
        """End the process, the polling and the probes."""
        self.halt()
        self._prober.close()

    def _new_poller(self, control: Bmv2Control, epoch_ns: int, commands: Path) -> QueuePoller:
        sample_ns = self._plan.dilation.wall_ns(SAMPLE_NS)
        return QueuePoller(
            control,
            commands.with_name(samples_file(self.name)),
            poll_ns=poll_interval_ns(sample_ns, len(self._plan.topology.switches)),
            sample_ns=sample_ns,
            epoch_ns=epoch_ns,
            link_bytes=self._link_bytes,
            also=self._prober.probe,
        )

    def _link_bytes(self) -> dict[int, tuple[int, int]]:
        """Return the bytes that each port in the topology has received and sent, as its interface counts them."""
        counted = interface_bytes()
        ports = (port.number for port in self._plan.topology.ports[self.name])
        return {number: counted[name] for number in ports if (name := self._spec.interfaces[number]) in counted}

    def _set_port_rate(self, words: Sequence[str]) -> str:
        """Execute softswitch's `port_rate`, as exactly as slots allow."""
        try:
            number, wall_bps = map(int, words)
        except ValueError as error:
            raise CommandError("port_rate PORT BITS_PER_S") from error
        if number not in (port.number for port in self._plan.topology.ports[self.name]) or wall_bps < 1:
            raise CommandError(f"port_rate: {self.name} has no port {number}, or the rate is not positive")
        assert self._control is not None
        for line in port_slots(number, wall_bps, self._plan.transport.payload_bytes):
            self._control.command(line)
        return ""

    def _set_port_link(self, words: Sequence[str]) -> str:
        """Execute softswitch's `port_link`, before an interface goes down and after it is up.

        BMv2 reads no port any more once an interface that it has open goes down. A process that is not running opens
        other ports when it starts, because BMv2 may hang if a port is closed soon after the start.
        """
        if len(words) != 2 or words[0] not in map(str, self._spec.interfaces) or words[1] not in ("up", "down"):
            raise CommandError("port_link PORT up|down")
        number, closed = int(words[0]), self._spec.closed_ports
        if words[1] == "down" and number not in closed:
            if self._control is not None:
                self._control.close_port(number)
            self._spec = replace(self._spec, closed_ports=closed | {number})
        elif words[1] == "up" and number in closed:
            if self._control is not None:
                self._control.open_port(number, self._spec.interfaces[number])
            self._spec = replace(self._spec, closed_ports=closed - {number})
        return ""

    def _configure(self, control: Bmv2Control, epoch_ns: int, commands: Path) -> None:
        before_ns = time.monotonic_ns()
        elapsed_ns = control.elapsed_us() * 1000
        self.clock_lag_ns = (before_ns + time.monotonic_ns()) // 2 - elapsed_ns - epoch_ns
        plan = self._plan
        slots = slot_commands(plan.topology, self.name, plan.transport.payload_bytes, plan.dilation)
        lines = [in_phase(line, self.clock_lag_ns) for line in (*plan.commands[self.name], *slots, PROBE_ROUTE)]
        commands.write_text("".join(f"{line}\n" for line in lines))
        for line in lines:
            control.command(line)
        missing = self._spec.open_ports.keys() - control.ports(without_carrier=self._may_lack_carrier)
        if missing:
            raise RunError(f"{self.name} has not opened port {', '.join(map(str, sorted(missing)))}")


def _is_about_link(line: Command | str) -> TypeGuard[str]:
    return isinstance(line, str) and line.startswith("port_link ")


def in_phase(line: Command | str, clock_lag_ns: int) -> Command | str:
    """Return a command adapted to a lagging clock, so that suppression periods of all switches begin together."""
    if not isinstance(line, TableEntry) or line.action != SUPPRESSION_BY_CLOCK:
        return line
    return replace(line, parameters=(*line.parameters[:-1], clock_lag_ns // 1000 % _TIME_MODULUS_US))


def interface_bytes() -> dict[str, tuple[int, int]]:
    """Return the bytes that each interface of this thread's network namespace has received and sent."""
    return parsed(Path("/proc/thread-self/net/dev").read_text())


def parsed(table: str) -> dict[str, tuple[int, int]]:
    """Return received and sent bytes by interface from the text of /proc/net/dev."""
    rows = (line.partition(":") for line in table.splitlines()[_HEADINGS:])
    counts = {name.strip(): numbers.split() for name, _, numbers in rows}
    return {name: (int(numbers[_RECEIVED]), int(numbers[_SENT])) for name, numbers in counts.items()}
