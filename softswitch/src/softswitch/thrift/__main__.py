# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs a Thrift server for a running switch: `python -m softswitch.thrift --control SOCKET --program JSON --port N`.

Owns the process: its options, and its end with the parent or the switch. Prints `ready PORT` when it listens on
127.0.0.1, and a line on stderr for every refused call.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import NoReturn

from os_helpers.parent import die_with_parent
from os_helpers.visible import visible
from softswitch.codegen.ir.source import CodegenError
from softswitch.control import ControlClient
from softswitch.line_log import LineLog
from softswitch.sockets import is_free
from softswitch.thrift.calls import Calls
from softswitch.thrift.digest_publisher import SCHEME, Publisher
from softswitch.thrift.program import Program
from softswitch.thrift.server import TIMEOUT_S, Server
from softswitch.thrift.target import Digests

BAD_INPUT, SWITCH_GONE = 2, 1
_MOST_PORT = 65_535
_ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_DESCRIPTION = "Answers BMv2's clients, such as simple_switch_CLI, for a running softswitch."
_NO_REASON = ""
_ASKS_EVERY_S = 0.02
"""The interval of polling for digests while there are listeners."""


def main(words: list[str]) -> int:
    """Serve until a signal or the end of the switch (returns 0), or until the switch is killed (returns 1)."""
    options = _options(words)
    die_with_parent()  # a restarted switch then finds its port free
    program = _program(options.program)
    try:
        with _control(options.control) as control, _listener(options.port) as listener:
            for number in _ending():
                signal.signal(number, _end)
            reason = asyncio.run(_serve(options, program, control, listener))
    finally:
        if is_free(options.control):  # the switch was killed and left its socket
            options.control.unlink(missing_ok=True)
    if reason:
        print(visible(f"softswitch.thrift: {reason}"), file=sys.stderr)
        return SWITCH_GONE
    return 0


async def _serve(options: argparse.Namespace, program: Program, control: ControlClient, listener: socket.socket) -> str:
    tell = LineLog("softswitch.thrift").write
    port: int = listener.getsockname()[1]
    publisher = await _publisher(options.notifications, tell) if program.digests else None
    address = None if publisher is None else publisher.address
    calls = Calls(control, program, tell, device_id=options.device_id, thrift_port=port, notifications=address)
    server = Server(listener, calls.answer, tell, TIMEOUT_S)
    publishing = asyncio.ensure_future(_publish(calls.digests, publisher))
    loop = asyncio.get_running_loop()
    for number in _ending():
        loop.add_signal_handler(number, server.end, _NO_REASON)
    loop.add_reader(control.fileno(), _end_with_switch, server, options.control)
    print(f"ready {port}", flush=True)
    try:
        return await server.serve()
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)  # the parent's death sends a signal as well
        publishing.cancel()
        loop.remove_reader(control.fileno())


async def _publisher(path: Path | None, tell: Callable[[str], None]) -> Publisher | None:
    """Open a publisher; return None if no address is given or the socket cannot be created: tables work without it."""
    if path is None:
        return None
    publisher = Publisher(path)
    try:
        await publisher.open()
    except OSError as error:
        tell(f"no notifications at {publisher.address}: {error.strerror or error}")
        return None
    return publisher


async def _publish(digests: Digests, publisher: Publisher | None) -> None:
    """Publish digests until the task is cancelled or the switch has gone, which the server notices itself."""
    if publisher is None:
        return
    loop = asyncio.get_running_loop()
    with suppress(OSError), closing(publisher):
        while True:
            for message in digests.messages(loop.time(), takes=publisher.has_listeners):
                publisher.publish(message)
            await asyncio.sleep(_ASKS_EVERY_S)


def _program(path: Path) -> Program:
    try:
        return Program.read(path)
    except OSError as error:
        _refuse(f"{path}: {error.strerror}")
    except CodegenError as error:
        _refuse(f"{error}")


def _control(path: Path) -> ControlClient:
    try:
        return ControlClient(path)
    except OSError as error:
        _refuse(f"no switch at {path}: {error.strerror or error}")


def _listener(port: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        _refuse(f"port {port}: {error.strerror}")


class _Parser(argparse.ArgumentParser):
    """An argument parser that reports errors in one line."""

    def error(self, message: str) -> NoReturn:
        _refuse(message)


def _options(words: list[str]) -> argparse.Namespace:
    parser = _Parser(prog="python -m softswitch.thrift", description=_DESCRIPTION)
    parser.add_argument("--control", type=Path, required=True, metavar="SOCKET", help="the switch's control socket")
    parser.add_argument(
        "--program", type=Path, required=True, metavar="JSON", help="the BMv2 JSON of the switch's program"
    )
    parser.add_argument(
        "--port", type=_port, default=9090, metavar="N", help="TCP port; default: 9090, 0: any free port"
    )
    parser.add_argument(
        "--device-id", type=int, default=0, metavar="N", help="device ID reported to clients; default: 0"
    )
    notifications = "socket for digests in BMv2's format, ipc://PATH; default: none"
    parser.add_argument("--notifications", type=_path, metavar="ADDRESS", help=notifications)
    return parser.parse_args(words)


def _port(word: str) -> int:
    if not word.isdecimal() or int(word) > _MOST_PORT:
        raise argparse.ArgumentTypeError(f"'{word}' is not a port from 0 to {_MOST_PORT}")
    return int(word)


def _path(word: str) -> Path:
    if not word.startswith(f"{SCHEME}/"):
        raise argparse.ArgumentTypeError(f"'{word}' is not {SCHEME} and the path of a socket")
    return Path(word.removeprefix(SCHEME))


def _ending() -> list[signal.Signals]:
    """Return the signals that end this server. `nohup` lets programs ignore SIGHUP."""
    return [number for number in _ENDING if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN]


def _end_with_switch(server: Server, control: Path) -> None:
    """End the server after the switch. A switch that ends in order has removed its control socket before."""
    server.end("the switch was killed" if control.exists() else _NO_REASON)


def _end(*_: object) -> NoReturn:
    sys.exit(0)


def _refuse(line: str) -> NoReturn:
    print(visible(f"softswitch.thrift: {line}"), file=sys.stderr)
    sys.exit(BAD_INPUT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
