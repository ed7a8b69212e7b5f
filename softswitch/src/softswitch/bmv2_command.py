# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A command with the options of BMv2's simple_switch: builds the program, then becomes the switch.

A script that starts `simple_switch` can start this command instead: the process is replaced by the switch, so signals
reach the switch. Options for missing features are refused with a one-line message; options without effect are accepted.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from os_helpers.cache import CacheRefused
from softswitch import bmv2_options
from softswitch.build import BuildError, build_executable
from softswitch.codegen.ir.source import CodegenError
from softswitch.control import ControlClient
from softswitch.p4c import CompileError, program_json
from softswitch.sockets import new_socket_path

ROOT = Path(__file__).resolve().parent.parent
THRIFT_SERVER = "softswitch.thrift"
THRIFT_LIBRARY = "thriftpy2"
_NOTIFICATIONS = "ipc:///tmp/bmv2-{}-notifications.ipc"
"""BMv2's default address for digests."""
_LISTENS_S = 300.0
_POLL_S = 0.02
_NO_P4RUNTIME = "simple_switch_grpc has P4Runtime; clients of --thrift-port set the tables here"
_COMMAND = "simple_switch"

_OWN_REFUSED = {
    "--no-p4": "a switch is compiled from its program; give one, or use simple_switch_grpc",
}
_OWN_REFUSED_OF_TARGET = {
    "--enable-swap": "a running program cannot be swapped; start another switch, or use simple_switch_grpc",
    "--grpc-server-addr": _NO_P4RUNTIME,
    "--cpu-port": _NO_P4RUNTIME,
}
REFUSED = bmv2_options.REFUSED | _OWN_REFUSED
REFUSED_OF_TARGET = bmv2_options.REFUSED_OF_TARGET | _OWN_REFUSED_OF_TARGET
_USAGE = "simple_switch [-i PORT@IFACE ...] [OPTION...] PROGRAM.json [-- OPTION...]"


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Replace this process with the switch, or exit with status 2 and a one-line message."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    options = read_options(sys.argv[1:] if arguments is None else arguments)
    if options.end_with is not None:
        bmv2_options.end_with(_COMMAND, options.end_with)
    try:
        program = program_json(Path(options.program))
        executable = build_executable(program, logs=bmv2_options.logs_packets(options))
        if options.log_file:
            bmv2_options.log_to(Path(f"{options.log_file}.txt"))
    except (BuildError, CacheRefused, CodegenError, CompileError, OSError) as error:
        _refuse(bmv2_options.reason(error))
    if options.thrift_port is not None:
        options.control = options.control or new_socket_path(str(os.getpid()))
        _start_server(options, program)
    os.execv(executable, ["softswitch", *switch_arguments(options)])


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the checked options; words after `--` are target options, as in BMv2. Exit with status 2 on an error."""
    options, target = bmv2_options.parse(arguments, _general_parser(), _target_parser())
    if options.program is None:
        _refuse(f"there is no program; {_USAGE}")
    bmv2_options.check(_COMMAND, options, target)
    if options.thrift_port is not None and importlib.util.find_spec(THRIFT_LIBRARY) is None:
        _refuse(
            f"--thrift-port: the Python package {THRIFT_LIBRARY} is not installed; "
            "install it, or give commands in a file, --commands FILE"
        )
    if options.notifications_addr is not None:
        _check_notifications(options)
    return options


def _check_notifications(options: argparse.Namespace) -> None:
    if options.thrift_port is None:
        _refuse("--notifications-addr: the server of --thrift-port sends digests; give that too")
    if not options.notifications_addr.startswith("ipc:///"):
        _refuse(f"--notifications-addr {options.notifications_addr}: digests go to a Unix socket, ipc:///PATH")


def switch_arguments(options: argparse.Namespace) -> list[str]:
    """Return the command-line words for the switch executable."""
    ports = [word for interface in options.interface for word in ("-i", interface)]
    commands = ["--commands", options.commands] if options.commands else []
    return [*ports, *commands, *bmv2_options.own_arguments(options)]


def _general_parser() -> argparse.ArgumentParser:
    parser = bmv2_options.Parser(
        _COMMAND, usage=_USAGE, description="softswitch, under the options of BMv2's simple_switch."
    )
    parser.epilog = (
        f"After '--': --drop-port {bmv2_options.DROP_PORT}, --priority-queues 1 to {bmv2_options.QUEUES}, "
        "--max-mc-groups N, --max-l1-entries N, --max-l2-entries N; they have no effect."
    )
    bmv2_options.add_general(parser)
    notifications = "socket for digests, ipc://PATH; default: ipc:///tmp/bmv2-N-notifications.ipc for device N"
    parser.add_argument("--notifications-addr", metavar="ADDRESS", help=notifications)
    parser.add_argument(
        "--device-id", type=bmv2_options.number, default=0, metavar="N", help="device ID that the Thrift server reports"
    )
    bmv2_options.add_refused(parser, _OWN_REFUSED | _OWN_REFUSED_OF_TARGET)
    return parser


def _target_parser() -> argparse.ArgumentParser:
    parser = bmv2_options.Parser(_COMMAND, add_help=False)
    bmv2_options.add_of_target(parser)
    bmv2_options.add_refused(parser, _OWN_REFUSED_OF_TARGET)
    return parser


def _start_server(options: argparse.Namespace, program: Path) -> None:
    """Start the Thrift server as a child process, which waits until the switch listens and ends with the switch."""
    try:
        socket.create_server(("127.0.0.1", options.thrift_port)).close()
    except OSError as error:
        _refuse(f"--thrift-port {options.thrift_port}: {error.strerror}")
    switch = os.getpid()
    if os.fork():
        return
    try:
        bmv2_options.end_with(_COMMAND, switch)
        control = Path(options.control).absolute()
        _wait_for(control)
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        words = ["-m", THRIFT_SERVER, "--control", str(control), "--program", str(program.absolute())]
        words += ["--port", str(options.thrift_port), "--device-id", str(options.device_id)]
        words += ["--notifications", options.notifications_addr or _NOTIFICATIONS.format(options.device_id)]
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Python would begin with a handler that prints a traceback
        os.chdir(ROOT)  # `-m` looks in the current folder first, which may hold untrusted files while we run as root
        os.execve(sys.executable, [sys.executable, *words], {**os.environ, "PYTHONPATH": path})
    except OSError as error:
        _say(f"the Thrift server: {error}")
    finally:
        os._exit(1)  # the forked child must never go on as a second switch


def _wait_for(control: Path) -> None:
    """Wait until the switch listens on its control socket. Raise OSError when it does not within `_LISTENS_S`."""
    deadline_s = time.monotonic() + _LISTENS_S
    while True:
        try:
            ControlClient(control).close()
            return
        except OSError:
            if time.monotonic() > deadline_s:
                raise
        time.sleep(_POLL_S)


def _say(line: str) -> None:
    bmv2_options.say(_COMMAND, line)


def _refuse(line: str) -> NoReturn:
    bmv2_options.refuse(_COMMAND, line)


if __name__ == "__main__":
    main()
