# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The switch's process, which is replaced when another program is loaded. Ports keep their settings.

The process ends with the thread that started it. Its CPU port is a socket whose other end stays here.
"""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from softswitch.control import ControlClient

_STOP_S = 10.0
MOST_FRAME_BYTES = 65_535
"""The longest frame of a switch."""


class DeviceError(Exception):
    """The switch's process does not start; the message is one line."""


class Device:
    """The process of a switch, from the first program on. Its output is that of this process.

    `interfaces` are words PORT@IFACE, `arguments` further options of the switch. With `logs_packets`, executables of
    programs must be able to log packets. Control commands go over an inherited socket, so that a killed switch leaves
    no file.
    """

    def __init__(
        self, interfaces: Sequence[str], arguments: Sequence[str], cpu_port: int | None, *, logs_packets: bool = False
    ) -> None:
        self._interfaces = {int(word.partition("@")[0]): word.partition("@")[2] for word in interfaces}
        self._arguments = tuple(arguments)
        self.cpu_port = cpu_port
        self.logs_packets = logs_packets
        self._process: subprocess.Popen[bytes] | None = None
        self._client: ControlClient | None = None
        self.cpu, self._cpu_of_switch = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.cpu.setblocking(False)

    @property
    def control(self) -> ControlClient:
        """The connection to the running switch."""
        assert self._client is not None
        return self._client

    def is_up(self, port: int) -> bool | None:
        """Return whether a port is up, or None if there is no such port. Ports without an interface are always up."""
        if port == self.cpu_port:
            return True
        if port not in self._interfaces:
            return None
        state = psutil.net_if_stats().get(self._interfaces[port])
        return state.isup if state is not None else self._interfaces[port].startswith("fd:")

    async def start(self, executable: Path, commands: Path | None = None) -> None:
        """Start the switch with a program, in place of a running one. Raise DeviceError if it does not start.

        `commands` is a file with control commands that run before the first frame.
        """
        settings = self._port_settings()
        self.stop()
        ours, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with control:
            self._process = subprocess.Popen(
                [executable, *self._words(commands), "--control-fd", str(control.fileno())],
                stdin=subprocess.DEVNULL,
                pass_fds=[control.fileno(), *self._descriptors()],
            )
        client = ControlClient(ours)
        try:
            await asyncio.to_thread(client.command, "get_time_elapsed")  # answered once the switch forwards
        except OSError:
            client.close()
            raise DeviceError(f"it ended with status {self._process.wait()}; its output has the reason") from None
        self._client = client
        for line in settings:
            self._client.command(line)
        if self.cpu_port is not None:
            self._client.command(f"port_mac_control {self.cpu_port} off")

    def stop(self) -> None:
        """End the switch, by force if it ignores SIGTERM."""
        if self._client is not None:
            self._client.close()
            self._client = None
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def close(self) -> None:
        """End the switch and close the CPU port. May be called again."""
        self.stop()
        self.cpu.close()
        self._cpu_of_switch.close()

    def send(self, frame: bytes) -> bool:
        """Send a frame to the CPU port; return whether the switch accepted it."""
        with suppress(BlockingIOError, OSError):
            return self.cpu.send(frame) == len(frame)
        return False

    def receive(self) -> bytes | None:
        """Return the next frame from the CPU port, or None if none waits."""
        with suppress(BlockingIOError):
            return self.cpu.recv(MOST_FRAME_BYTES)
        return None

    def _words(self, commands: Path | None) -> list[str]:
        ports = dict(self._interfaces)
        if self.cpu_port is not None:
            ports[self.cpu_port] = f"fd:{self._cpu_of_switch.fileno()}"
        words = [word for port, interface in ports.items() for word in ("-i", f"{port}@{interface}")]
        first = [] if commands is None else ["--commands", str(commands)]
        return [*words, *first, "--die-with-parent", *self._arguments]

    def _descriptors(self) -> list[int]:
        """Return the sockets that the switch inherits: its CPU port and interfaces of the form fd:N."""
        inherited = [name for name in self._interfaces.values() if name.startswith("fd:")]
        return [self._cpu_of_switch.fileno(), *(int(name.removeprefix("fd:")) for name in inherited)]

    def _port_settings(self) -> list[str]:
        """Return the commands that repeat the settings of the ports of the running switch."""
        if self._client is None:
            return []
        with suppress(OSError):
            return self._client.command("show_port_settings").splitlines()
        return []
