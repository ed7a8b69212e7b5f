# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A network namespace with veth pairs, a switch at one end of each, and sockets at the other end.

Here the kernel is between the test and the switch. It removes VLAN tags, leaves checksums to network cards that do not
exist, and hands over many segments as one frame.
"""

import ctypes
import json
import os
import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from softswitch.control import ControlClient
from softswitch_tests.process.running import PATIENCE_S, until
from softswitch_tests.programs import steered

TYPE_PLACE = 12
ETH_P_ALL = 3
_CLONE_NEWNET = 0x40000000
_SOL_PACKET = 263
_PACKET_AUXDATA = 8
_PACKET_IGNORE_OUTGOING = 23
_SO_RCVBUFFORCE = 33
_TAG_IS_VALID = 0x10
_AUXDATA = struct.Struct("=IIIHHHH")

_Result = TypeVar("_Result")


class Namespace:
    """A network namespace without IPv6 addresses of its own, which ends with the test."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def run(self, *words: str) -> str:
        inside = ["nsenter", f"--net=/proc/{self.pid}/ns/net", *words]
        return subprocess.run(inside, capture_output=True, text=True, check=True, timeout=PATIENCE_S).stdout

    def ip(self, words: str) -> None:
        self.run("ip", *words.split())

    def call(self, function: Callable[[], _Result]) -> _Result:
        """Call a function in the namespace; the sockets that it opens stay there."""
        with ThreadPoolExecutor(1) as pool:  # setns moves only this short-lived thread
            return pool.submit(self._enter_and_call, function).result()

    def _enter_and_call(self, function: Callable[[], _Result]) -> _Result:
        libc = ctypes.CDLL(None, use_errno=True)
        namespace = os.open(f"/proc/{self.pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            if libc.setns(namespace, _CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(namespace)
        return function()


@contextmanager
def namespace() -> Iterator[Namespace]:
    holder = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "sysctl -qw net.ipv6.conf.default.accept_dad=0; echo; read line"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield Namespace(holder.pid)
    finally:
        holder.communicate()


class Wire:
    """The far end of a port's interface as a raw socket, which sees each frame as it was on the wire."""

    def __init__(self, interface: str) -> None:
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        self.socket.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
        self.socket.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 26)
        self.socket.bind((interface, ETH_P_ALL))
        self.socket.settimeout(PATIENCE_S)

    def send(self, frame: bytes) -> None:
        self.socket.send(frame)

    def receive(self) -> bytes:
        frame, notes, _, _ = self.socket.recvmsg(1 << 17, 256)
        for level, kind, data in notes:
            if (level, kind) != (_SOL_PACKET, _PACKET_AUXDATA):
                continue
            status, *_, tag, tag_type = _AUXDATA.unpack(data)
            if status & _TAG_IS_VALID:
                frame = frame[:TYPE_PLACE] + struct.pack("!HH", tag_type, tag) + frame[TYPE_PLACE:]
        return frame

    def receive_from(self, source: bytes) -> bytes:
        """Return the next frame with this source address, which the kernel's own frames do not have."""
        while (frame := self.receive())[6:12] != source:
            pass
        return frame


class LiveSwitch:
    """A switch on the interfaces `portN`, whose far ends are `farN`."""

    def __init__(
        self,
        near: Namespace,
        far: Callable[[int], Namespace | None],
        process: subprocess.Popen[str],
        control: ControlClient,
        stack: ExitStack,
    ) -> None:
        self.near = near
        self._far = far
        self._stack = stack
        self.process = process
        self.control = control
        self._notices: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._notices.append(line.rstrip("\n").removeprefix("softswitch: "))

    def wires(self, *ports: int) -> list[Wire]:
        """Return sockets at the far ends of ports, which close with the switch."""
        ends = [(self._far(port) or self.near).call(partial(Wire, f"far{port}")) for port in ports]
        for end in ends:
            self._stack.callback(end.socket.close)
        return ends

    def statistics(self) -> dict[str, Any]:
        values: dict[str, Any] = json.loads(self.control.command("statistics"))
        return values

    def notices(self, least: int = 0) -> list[str]:
        """Return the lines on stderr once there are at least this many."""
        self.wait_for(lambda: len(self._notices) >= least, lambda: f"only {self._notices}")
        return self._notices

    def wait_for(self, is_true: Callable[[], bool], complaint: Callable[[], str] = lambda: "in vain") -> None:
        assert until(is_true), complaint()


@contextmanager
def live_switch(
    tmp_path: Path,
    *options: str | Path,
    ports: tuple[int, ...] = (1, 2),
    far: Callable[[int], Namespace | None] = lambda _: None,
    program: Path | None = None,
    sanitize: bool = True,
) -> Iterator[LiveSwitch]:
    """Start a switch in a namespace of its own. `far` returns the namespace of a port's far end, if it is another."""
    with ExitStack() as stack:
        near = stack.enter_context(namespace())
        for port in ports:
            add_pair(near, port, far(port))
        words: list[str | Path] = [program or steered.executable(sanitize=sanitize), "--control", tmp_path / "control"]
        for port in ports:
            words += ["-i", f"{port}@port{port}"]
        process = stack.enter_context(
            subprocess.Popen(
                ["nsenter", f"--net=/proc/{near.pid}/ns/net", *words, *options],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
        stack.callback(process.kill)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        control = stack.enter_context(ControlClient(tmp_path / "control"))
        yield LiveSwitch(near, far, process, control, stack)


def add_pair(near: Namespace, port: int, far: Namespace | None) -> None:
    """Make the interface of a port and its far end, both up."""
    near.ip(f"link add port{port} type veth peer name far{port}")
    if far is not None:
        near.ip(f"link set far{port} netns {far.pid}")
    near.ip(f"link set port{port} up")
    (far or near).ip(f"link set far{port} up")
    assert until(lambda: " state UP " in near.run("ip", "-o", "link", "show", f"port{port}"))
