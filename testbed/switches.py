# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""softswitch as a process, one for each switch of a live run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from softswitch.build import build_executable, build_library
from softswitch.control import ControlClient
from telemetry.queue_samples import Samples, read_samples
from testbed.counters import SwitchCounts, read_counts
from testbed.emulation import SWITCH_INTERFACE
from testbed.plan import RunPlan
from testbed.processes import Child
from topologies.commands import pipeline_commands, wire_commands

PROGRAM = Path(__file__).resolve().parent.parent / "switch-bmv2" / "artifacts" / "sfc.json"
SAMPLE_NS = 10_000
_READY_SECONDS = 20.0


def switch_commands(plan: RunPlan, switch: str) -> list[str]:
    """The whole commands file of a switch on softswitch."""
    lines = pipeline_commands(plan.topology, switch, plan.switch_settings, plan.dilation)
    return lines + wire_commands(plan.topology, switch, plan.dilation)


def build_switch() -> Path:
    """The softswitch executable of our program, from the cache if it is there."""
    return build_executable(PROGRAM)


def build_engine() -> Path:
    """The same as a shared object, for runs in virtual time."""
    return build_library(PROGRAM)


class SwitchProcess:
    """One softswitch and the files it uses: commands in, samples, statistics and a log out."""

    def __init__(self, plan: RunPlan, name: str, executable: Path, state: Path, logs: Path, epoch_ns: int) -> None:
        self.name = name
        self._ports = [port.number for port in plan.topology.ports[name]]
        self._samples = logs / f"{name}.samples"
        self._socket = state / f"{name}.control"
        commands = logs / f"{name}-commands.txt"
        commands.write_text("".join(f"{line}\n" for line in switch_commands(plan, name)))
        arguments = [str(executable), "--commands", str(commands), "--control", str(self._socket)]
        arguments += ["--telemetry", str(self._samples), "--sample-ns", str(plan.dilation.wall_ns(SAMPLE_NS))]
        arguments += ["--epoch-ns", str(epoch_ns), "--seed", str(plan.config.seed), "--die-with-parent", "--realtime"]
        for port in self._ports:
            arguments += ["-i", f"{port}@{SWITCH_INTERFACE.format(name=name, port=port)}"]
        self.child = Child(name, arguments, state.name, logs / f"{name}.log")
        self._control: ControlClient | None = None

    def wait_until_ready(self) -> None:
        """Returns once its ports are open and its commands executed."""
        self.child.wait_for_line("ready", _READY_SECONDS)
        self._control = ControlClient(self._socket)

    def command(self, line: str) -> str:
        """Executes one control command."""
        assert self._control is not None
        return self._control.command(line)

    def statistics(self) -> Mapping[str, Any]:
        """What the target counts and measures (softswitch/src/statistics.c)."""
        found: Mapping[str, Any] = json.loads(self.command("statistics"))
        return found

    def counts(self) -> SwitchCounts:
        """What the P4 program counted."""
        return read_counts(self.command, self._ports)

    def stop(self) -> Samples:
        """Ends the process; its queue samples."""
        if self._control is not None:
            self._control.close()
        self.child.stop()
        samples = read_samples(self._samples)
        self._samples.unlink()
        return samples
