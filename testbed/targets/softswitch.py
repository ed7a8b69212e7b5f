# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The softswitch target of live runs: one process per switch."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from hosts.io.late_bins import late_bin_ns
from softswitch.build import build_executable
from softswitch.control import ControlClient
from telemetry.atomic_file import replace_text
from telemetry.late_bins import late_bins_file
from telemetry.queue_samples import samples_file
from testbed.errors import RunError
from testbed.plan.plan import RunPlan
from testbed.program.user_program import program_file
from testbed.system.child import RunChild
from testbed.targets.common.commands import SAMPLE_NS, switch_commands
from testbed.targets.common.counters import SwitchCounts, read_all_lives
from testbed.targets.common.interfaces import SWITCH_INTERFACE
from testbed.targets.common.statistics import PartStatistics, softswitch_statistics
from testbed.targets.common.target import LiveNodes, RunningSwitch
from testbed.targets.common.wires import Wire

_READY_SECONDS = 20.0
_COULD_NOT_WRITE = 1


class SoftswitchProcess:
    """A softswitch process and its files: commands as input; samples, statistics and a log as output."""

    clock_lag_ns = 0

    def __init__(self, plan: RunPlan, name: str, executable: Path, state: Path, logs: Path, epoch_ns: int) -> None:
        self.name = name
        self._ports = [port.number for port in plan.topology.ports[name]]
        self._socket = state / f"{name}.control"
        commands = logs / f"{name}-commands.txt"
        replace_text(commands, "".join(f"{line}\n" for line in switch_commands(plan, name)))
        arguments = [str(executable), "--commands", str(commands), "--control", str(self._socket)]
        arguments += [
            "--telemetry",
            str(logs / samples_file(name)),
            "--sample-ns",
            str(plan.dilation.wall_ns(SAMPLE_NS)),
        ]
        arguments += ["--lateness", str(logs / late_bins_file(name)), "--lateness-ns", str(late_bin_ns(plan.dilation))]
        arguments += ["--epoch-ns", str(epoch_ns), "--seed", str(plan.config.seed), "--die-with-parent", "--realtime"]
        for port in self._ports:
            arguments += ["-i", f"{port}@{SWITCH_INTERFACE.format(name=name, port=port)}"]
        self._process = partial(RunChild, name, arguments, state.name, logs / f"{name}.log")
        self._child = self._process()
        self._control: ControlClient | None = None

    def wait_until_ready(self) -> None:
        """Wait until the ports are open and the commands file has been executed."""
        self._child.wait_for_line("ready", _READY_SECONDS)
        try:
            self._control = ControlClient(self._socket)
        except OSError as error:
            raise RunError(self._child.why_silent(error)) from error

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended, for any reason."""
        return self._child.has_ended

    def obituary(self) -> str:
        """Return how the process ended and its last line of output, as one line."""
        return self._child.obituary()

    def trouble(self) -> str | None:
        """Return why the switch no longer forwards, as one line, or None."""
        return self._child.trouble()

    def command(self, line: str) -> str:
        assert self._control is not None
        try:
            return self._control.command(line)
        except OSError as error:
            raise RunError(self._child.why_silent(error)) from error

    def counts(self) -> SwitchCounts:
        return read_all_lives(self.command, self._ports)

    def queued_bytes(self) -> int:
        queued: int = self.statistics().details["queued_bytes"]
        return queued

    def statistics(self) -> PartStatistics:
        return softswitch_statistics(self.name, json.loads(self.command("statistics")))

    def halt(self) -> None:
        self._close_control()
        self._child.stop()

    def start_again(self) -> None:
        self._socket.unlink(missing_ok=True)
        self._child = self._process()
        self.wait_until_ready()

    def stop(self) -> None:
        """End the process. Raise RunError if it could not write its samples."""
        if self._child.stop() == _COULD_NOT_WRITE:
            raise RunError(f"{self.name}: {self._child.last_words()}")
        self._close_control()

    def _close_control(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None

    def end(self) -> None:
        """End the process if it still runs. Its samples remain in their file."""
        self.halt()


class SoftswitchTarget:
    """All switches of a run on softswitch, which itself delays links and keeps byte-exact timing."""

    wires: Sequence[Wire] = ()

    def __init__(self, plan: RunPlan, state: Path, logs: Path) -> None:
        self._plan = plan
        self._state = state
        self._logs = logs
        self._executable = build_executable(program_file(plan.spec.program))
        self._switches: list[SoftswitchProcess] = []

    def start(self, network: LiveNodes, epoch_ns: int) -> Sequence[RunningSwitch]:
        for switch in self._plan.topology.switches:
            network.checkpoint()
            self._switches.append(
                SoftswitchProcess(self._plan, switch.name, self._executable, self._state, self._logs, epoch_ns)
            )
        for process in self._switches:
            network.checkpoint()
            process.wait_until_ready()
        return self._switches

    def plan(self, switch: str, at_ns: int, line: str) -> None:
        """Schedule a command in the switch, which executes it on time even if this process is late."""
        [running] = [process for process in self._switches if process.name == switch]
        running.command(f"at {at_ns} {line}")

    def other_parts(self) -> Sequence[PartStatistics]:
        return ()

    def troubles(self) -> Sequence[str]:
        return [trouble for process in self._switches if (trouble := process.trouble())]

    def notes(self) -> Sequence[str]:
        return ()

    def stop(self) -> None:
        for process in self._switches:
            process.end()
