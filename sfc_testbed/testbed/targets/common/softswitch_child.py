# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A softswitch process of a live run, and the commands to it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from sfc_testbed.telemetry.atomic_file import replace_text
from sfc_testbed.testbed.control_plane.entries import Command
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.system.child import RunChild
from sfc_testbed.testbed.targets.common.statistics import PartStatistics, softswitch_statistics
from softswitch.control import ControlClient

_READY_SECONDS = 20.0


class SoftswitchChild(RunChild):
    """A process with a commands file and a log in `logs`, and its control socket in the run's state folder."""

    def __init__(
        self,
        name: str,
        executable: Path,
        state: Path,
        logs: Path,
        epoch_ns: int,
        *,
        commands: Iterable[str],
        interfaces: Mapping[int, str],
        options: Sequence[str] = (),
    ) -> None:
        """`interfaces` maps port numbers to interfaces."""
        self._socket = state / f"{name}.control"
        self._control: ControlClient | None = None
        file = logs / f"{name}-commands.txt"
        replace_text(file, "".join(f"{line}\n" for line in commands))
        arguments = [str(executable), "--commands", str(file), "--control", str(self._socket), *options]
        arguments += ["--epoch-ns", str(epoch_ns), "--die-with-parent", "--realtime"]
        for port, interface in interfaces.items():
            arguments += ["-i", f"{port}@{interface}"]
        self._start = name, arguments, state.name, logs / f"{name}.log"
        super().__init__(*self._start)

    def wait_until_ready(self) -> None:
        """Wait until the ports are open and the commands file has been executed."""
        self.wait_for_line("ready", _READY_SECONDS)
        try:
            self._control = ControlClient(self._socket)
        except OSError as error:
            raise RunError(self.why_silent(error)) from error

    def command(self, line: Command | str) -> str:
        assert self._control is not None
        try:
            return self._control.command(str(line))
        except OSError as error:
            raise RunError(self.why_silent(error)) from error

    def statistics(self) -> PartStatistics:
        return softswitch_statistics(self.name, json.loads(self.command("statistics")))

    def stop(self) -> int:
        if self._control is not None:
            self._control.close()
            self._control = None
        return super().stop()

    def halt(self) -> None:
        """End the process, whatever its exit status."""
        SoftswitchChild.stop(self)

    def start_again(self, changes: Sequence[Command | str]) -> None:
        """Start a process that has ended, with the same arguments, and repeat changes."""
        self._socket.unlink(missing_ok=True)
        super().__init__(*self._start)
        self.wait_until_ready()
        for line in changes:
            self.command(line)
