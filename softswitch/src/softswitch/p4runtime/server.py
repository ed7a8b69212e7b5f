# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Serves a switch to P4Runtime clients and, on request, to Thrift clients, in one process with one event loop.

Owns the listening sockets, signals and the end of the process. It ends with a signal or with the switch.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from softswitch.build import build_executable
from softswitch.line_log import LineLog
from softswitch.p4runtime import messages
from softswitch.p4runtime.batches import DEFAULT_METADATA_BYTES
from softswitch.p4runtime.device import Device
from softswitch.p4runtime.service import Service
from softswitch.p4runtime.session import Session
from softswitch.thrift.calls import Calls, without_program
from softswitch.thrift.framing import Call
from softswitch.thrift.program import Program
from softswitch.thrift.server import TIMEOUT_S, Server

_ENDING = (signal.SIGTERM, signal.SIGINT)
_MOST_REQUEST_BYTES = 32 << 20
"""The maximum size of a request. A message of many empty parts takes 23 times as much memory."""
_MOST_CALLS = 128
"""The maximum number of calls in progress, open streams included."""
MOST_CONNECTIONS = 256
"""The maximum number of connections of clients; further ones are closed."""
_HANDSHAKE_MS = 20_000
"""The time after which a connection is closed whose client does not begin to speak HTTP/2."""
_GRACE_S = 0.5
_OPTIONS = (
    ("grpc.max_receive_message_length", _MOST_REQUEST_BYTES),
    ("grpc.max_allowed_incoming_connections", MOST_CONNECTIONS),
    ("grpc.server_handshake_timeout_ms", _HANDSHAKE_MS),
    ("grpc.so_reuseport", 0),
)


class ServeError(Exception):
    """The server cannot start; the message is one line."""


@dataclass(frozen=True)
class Tls:
    """The PEM files of a server with TLS. With `requires_client`, clients need a certificate of `authority`."""

    certificate: Path
    key: Path
    authority: Path | None
    requires_client: bool


@dataclass(frozen=True)
class Endpoints:
    """The addresses at which a server listens."""

    grpc_address: str
    metadata_bytes: int = DEFAULT_METADATA_BYTES
    """The metadata that all clients accept in answers."""
    tls: Tls | None = None
    thrift_port: int | None = None


class SwitchServer:
    """The servers of one switch."""

    def __init__(self, device: Device, device_id: int, endpoints: Endpoints) -> None:
        self._device = device
        self._device_id = device_id
        self._endpoints = endpoints
        self._session = Session(device, device_id, self._use_program)
        self._service = Service(self._session, endpoints.metadata_bytes)
        self._calls: Calls | None = None
        self._log = LineLog("simple_switch_grpc")
        self._ended: asyncio.Future[str] | None = None
        self._watched_fd: int | None = None

    async def run(self, program: Path | None, commands: Path | None, on_ready: Callable[[str], None]) -> str:
        """Serve until a signal, and return why the server ended: "" for a signal.

        The switch begins with a program and a file of control commands, or without them. As on BMv2, P4Runtime clients
        have to set the pipeline in both cases, since the program has no P4Info. `on_ready` receives the address of the
        gRPC server. Raise ServeError, DeviceError or an error of the build if the server cannot start.
        """
        self._ended = asyncio.get_running_loop().create_future()
        with self._signals():
            server, address = self._grpc_server()
            listener = self._thrift_listener()
            try:
                if program is not None:
                    logs = self._device.logs_packets
                    executable = await asyncio.to_thread(build_executable, program, logs=logs)
                    await self._device.start(executable, commands)
                    self._use_program(program.read_bytes())
                await server.start()
                on_ready(address)
                return await self._serve(listener)
            finally:
                self._service.end_streams()
                await server.stop(_GRACE_S)
                self._end_watching()
                self._session.close()

    async def _serve(self, listener: socket.socket | None) -> str:
        assert self._ended is not None
        loop = asyncio.get_running_loop()
        tasks: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._session.watch())]
        thrift: Server | None = None
        if listener is not None:
            thrift = Server(listener, self._answer, self._log.write, TIMEOUT_S)
            tasks.append(asyncio.ensure_future(thrift.serve()))
        loop.add_reader(self._device.cpu.fileno(), self._session.receive_packets)
        try:
            done, _ = await asyncio.wait({self._ended, *tasks}, return_when=asyncio.FIRST_COMPLETED)
            return next((str(item.result()) for item in done), "")
        finally:
            loop.remove_reader(self._device.cpu.fileno())
            if thrift is not None:
                thrift.end("")
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _grpc_server(self) -> tuple[Any, str]:
        """Return a gRPC server that is bound to its address, and that address with the port."""
        server = grpc.aio.server(options=_OPTIONS, maximum_concurrent_rpcs=_MOST_CALLS)
        server.add_generic_rpc_handlers((messages.method_handlers(self._service),))
        address = self._endpoints.grpc_address
        try:
            if self._endpoints.tls is None:
                port = server.add_insecure_port(address)
            else:
                port = server.add_secure_port(address, _credentials(self._endpoints.tls))
        except RuntimeError:
            port = 0
        if port == 0:
            raise ServeError(f"--grpc-server-addr {address}: cannot listen there; is another server running?")
        if address.startswith("unix:"):
            return server, address
        return server, f"{address.rpartition(':')[0]}:{port}"

    def _thrift_listener(self) -> socket.socket | None:
        if self._endpoints.thrift_port is None:
            return None
        try:
            return socket.create_server(("127.0.0.1", self._endpoints.thrift_port))
        except OSError as error:
            text = os.strerror(error.errno or 0)  # the error's own text repeats the address
            raise ServeError(f"--thrift-port {self._endpoints.thrift_port}: {text}") from None

    def _answer(self, call: Call) -> bytes:
        """Answer a Thrift client."""
        return without_program(call) if self._calls is None else self._calls.answer(call)

    def _use_program(self, source: bytes) -> None:
        """Let Thrift clients see the program of the new switch, and watch this switch."""
        program = Program(source, "the device config")
        self._calls = Calls(
            self._device.control,
            program,
            self._log.write,
            device_id=self._device_id,
            thrift_port=self._endpoints.thrift_port or 0,
        )
        self._end_watching()
        self._watched_fd = self._device.control.fileno()
        asyncio.get_running_loop().add_reader(self._watched_fd, self._end, "the switch has ended")

    def _end_watching(self) -> None:
        if self._watched_fd is not None:
            asyncio.get_running_loop().remove_reader(self._watched_fd)
            self._watched_fd = None

    def _end(self, reason: str) -> None:
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(reason)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in _ENDING:
            loop.add_signal_handler(number, self._end, "")
        try:
            yield
        finally:
            for number in _ENDING:
                loop.remove_signal_handler(number)


def _credentials(tls: Tls) -> Any:
    """Return the credentials of a server with TLS. Raise ServeError if a file cannot be read."""
    try:
        key, certificate = tls.key.read_bytes(), tls.certificate.read_bytes()
        authority = None if tls.authority is None else tls.authority.read_bytes()
    except OSError as error:
        raise ServeError(f"{error.filename}: {error.strerror}") from None
    return grpc.ssl_server_credentials(
        [(key, certificate)], root_certificates=authority, require_client_auth=tls.requires_client
    )
