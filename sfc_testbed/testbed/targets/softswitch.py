# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The softswitch target of live runs: one process per switch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sfc_testbed.hosts.io.late_bins import late_bin_ns
from sfc_testbed.telemetry.late_bins import late_bins_file
from sfc_testbed.telemetry.queue_samples import samples_file
from sfc_testbed.testbed.control_plane.commands import switch_seed
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.program.user_program import program_file
from sfc_testbed.testbed.targets.common.commands import LINK_SAMPLE_NS, SAMPLE_NS, switch_commands
from sfc_testbed.testbed.targets.common.counters import SwitchCounts, one_by_one, read_all_lives
from sfc_testbed.testbed.targets.common.interfaces import SWITCH_INTERFACE
from sfc_testbed.testbed.targets.common.softswitch_child import SoftswitchChild
from sfc_testbed.testbed.targets.common.statistics import PartStatistics
from sfc_testbed.testbed.targets.common.target import LiveNodes, RunningSwitch
from sfc_testbed.testbed.targets.common.wires import Wire
from sfc_testbed.topologies.physics import departure_window_ns
from softswitch.build import build_executable

_COULD_NOT_WRITE = 1


class SoftswitchProcess(SoftswitchChild):
    """The softswitch process of a switch, which also writes samples of queues and links and its lateness over time."""

    clock_lag_ns = 0

    def __init__(self, plan: RunPlan, name: str, executable: Path, state: Path, logs: Path, epoch_ns: int) -> None:
        self._ports = [port.number for port in plan.topology.ports[name]]
        options = ["--telemetry", str(logs / samples_file(name)), "--sample-ns", str(plan.dilation.wall_ns(SAMPLE_NS))]
        options += ["--link-sample-ns", str(plan.dilation.wall_ns(LINK_SAMPLE_NS))]
        options += ["--lateness", str(logs / late_bins_file(name)), "--lateness-ns", str(late_bin_ns(plan.dilation))]
        options += ["--window-ns", str(plan.dilation.wall_ns(departure_window_ns(plan.topology)))]
        options += ["--seed", str(switch_seed(plan.config.seed, name, "random"))]
        interfaces = {port: SWITCH_INTERFACE.format(name=name, port=port) for port in self._ports}
        commands = switch_commands(plan, name)
        super().__init__(
            name, executable, state, logs, epoch_ns, commands=commands, interfaces=interfaces, options=options
        )

    def counts(self) -> SwitchCounts:
        return read_all_lives(one_by_one(self.command), self._ports)

    def queued_bytes(self) -> int:
        queued: int = self.statistics().details["queued_bytes"]
        return queued

    def stop(self) -> int:
        """End the process and return its exit status. Raise RunError if it could not write its samples."""
        status = super().stop()
        if status == _COULD_NOT_WRITE:
            raise RunError(f"{self.name}: {self.last_words()}")
        return status


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
            process.halt()
