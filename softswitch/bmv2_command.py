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
from typing import Any, NoReturn

from native.cache import CacheRefused
from native.visible import visible
from processes.parent import die_with_parent
from softswitch.build import BuildError, build_executable
from softswitch.codegen.ir.source import CodegenError
from softswitch.codegen.load.program import JSON_MAJOR, JSON_MINOR_NEWEST
from softswitch.control import ControlClient
from softswitch.p4c import CompileError, program_json
from softswitch.sockets import new_socket_path

ROOT = Path(__file__).resolve().parent.parent
THRIFT_SERVER = "softswitch.thrift"
BAD_INPUT = 2
_DROP_PORT = 511
_QUEUES = 8
_NOTIFICATIONS = "ipc:///tmp/bmv2-{}-notifications.ipc"
"""BMv2's default address for digests."""
_LISTENS_S = 300.0
_POLL_S = 0.02
_CAPTURE = "--pcap has every frame of every port"
_NO_P4RUNTIME = "there is no P4Runtime; clients of --thrift-port set the tables"
_STF = "frames come from interfaces; python -m softswitch.stf runs a program on frames from a file"

REFUSED = {
    "--trace-dir": f"the switch writes no traces; {_CAPTURE}",
    "--dump-packet-data": f"the switch logs no packets; {_CAPTURE}",
    "--use-files": _STF,
    "--packet-in": _STF,
    "--debugger": "there is no debugger; the command drops_read shows where packets were dropped",
    "--debugger-addr": "there is no debugger; the command drops_read shows where packets were dropped",
    "--restore-state": "a switch starts empty; give its entries in a file, --commands FILE",
    "--no-p4": "a switch is compiled from its program; give one",
}
REFUSED_OF_TARGET = {
    "--enable-swap": "a running program cannot be swapped; start another switch",
    "--load-modules": "no modules can be loaded",
    "--grpc-server-addr": _NO_P4RUNTIME,
    "--cpu-port": _NO_P4RUNTIME,
}
PACKET_LEVELS = ("trace", "debug")
"""The levels of BMv2's log that show the way of packets."""
_USAGE = "simple_switch -i PORT@IFACE [-i ...] [OPTION...] PROGRAM.json [-- OPTION...]"
_WITHOUT_EFFECT = "accepted, has no effect"


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Replace this process with the switch, or exit with status 2 and a one-line message."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    options = read_options(sys.argv[1:] if arguments is None else arguments)
    if options.end_with is not None:
        _end_with(options.end_with)
    try:
        program = program_json(Path(options.program))
        executable = build_executable(program, logs=logs_packets(options))
        if options.log_file:
            _log_to(Path(f"{options.log_file}.txt"))
    except (BuildError, CacheRefused, CodegenError, CompileError, OSError) as error:
        _refuse(str(error))
    if options.thrift_port is not None:
        options.control = options.control or new_socket_path(str(os.getpid()))
        _start_server(options, program)
    os.execv(executable, ["softswitch", *switch_arguments(options)])


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the checked options; words after `--` are target options, as in BMv2. Exit with status 2 on an error."""
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    options = _general_parser().parse_args(words[:end])
    target = _target_parser().parse_args(words[end + 1 :])
    if options.log_console and options.log_file:
        _refuse("--log-console and --log-file exclude each other")
    if options.thrift_port is not None and importlib.util.find_spec(THRIFT_SERVER) is None:
        _refuse("--thrift-port: the Thrift server is not installed; give commands in a file, --commands FILE")
    if options.notifications_addr is not None:
        _check_notifications(options)
    if options.nanolog:
        _say(f"--nanolog {options.nanolog}: ignored, because there is no event log")
    if target.drop_port != _DROP_PORT:
        _refuse(f"--drop-port {target.drop_port}: the drop port is always {_DROP_PORT}")
    if target.priority_queues > _QUEUES:
        _refuse(f"--priority-queues {target.priority_queues}: a port has {_QUEUES} strict-priority queues")
    return options


def _check_notifications(options: argparse.Namespace) -> None:
    if options.thrift_port is None:
        _refuse("--notifications-addr: the server of --thrift-port sends digests; give that too")
    if not options.notifications_addr.startswith("ipc:///"):
        _refuse(f"--notifications-addr {options.notifications_addr}: digests go to a Unix socket, ipc:///PATH")


def switch_arguments(options: argparse.Namespace) -> list[str]:
    """Return the command-line words for the switch executable."""
    words = [word for interface in options.interface for word in ("-i", interface)]
    for name in ("commands", "control", "pcap"):
        if value := getattr(options, name):
            words += [f"--{name}", str(value)]
    words.append("--follow-links")
    if logs_packets(options):
        words += ["--log", options.log_level]
        words += ["--log-flush"] if options.log_flush else []
    return [*words, "--realtime"] if options.realtime else words


def logs_packets(options: argparse.Namespace) -> bool:
    """Whether the switch logs the way of every packet: as in BMv2 when a place for the log is given."""
    return (options.log_console or options.log_file is not None) and options.log_level in PACKET_LEVELS


class _Parser(argparse.ArgumentParser):
    """An argument parser that reports errors in one line."""

    def error(self, message: str) -> NoReturn:
        _refuse(message)


class _Refuse(argparse.Action):
    """The action of a BMv2 option that is refused; its help text is the reason."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        _refuse(f"{self.option_strings[0]}: {self.help}")


def _add_refused(parser: argparse.ArgumentParser, refused: dict[str, str]) -> None:
    group = parser.add_argument_group("refused")
    for name, reason in refused.items():
        group.add_argument(name, action=_Refuse, nargs="?", help=reason)


def _general_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        "simple_switch", usage=_USAGE, description="softswitch, under the options of BMv2's simple_switch."
    )
    parser.epilog = (
        f"After '--': --drop-port {_DROP_PORT}, --priority-queues 1 to {_QUEUES}, --max-mc-groups N, "
        "--max-l1-entries N, --max-l2-entries N; they have no effect."
    )
    parser.add_argument("program", metavar="PROGRAM.json", help="BMv2 JSON or .p4 source")
    parser.add_argument("-i", "--interface", action="append", default=[], metavar="PORT@IFACE", help="a port, 0 to 511")
    parser.add_argument("--thrift-port", type=_port, metavar="N", help="TCP port for simple_switch_CLI; default: none")
    parser.add_argument("--log-file", metavar="FILE", help="log the way of every packet to FILE.txt")
    parser.add_argument("--log-console", action="store_true", help="log the way of every packet to the terminal")
    notifications = "socket for digests, ipc://PATH; default: ipc:///tmp/bmv2-N-notifications.ipc for device N"
    parser.add_argument("--notifications-addr", metavar="ADDRESS", help=notifications)
    parser.add_argument("--nanolog", metavar="ADDRESS", help="accepted with a warning: there is no event log")
    pcap = "write each port's frames to DIR/IFACE_in.pcap and DIR/IFACE_out.pcap; default DIR: the current folder"
    parser.add_argument("--pcap", nargs="?", const=".", metavar="DIR", help=pcap)
    parser.add_argument("--commands", metavar="FILE", help="simple_switch_CLI commands to run at the start")
    parser.add_argument("--control", metavar="SOCKET", help="listen for commands on this Unix socket")
    parser.add_argument("--realtime", action="store_true", help="run with real-time priority (SCHED_RR)")
    parser.add_argument("--end-with", type=_number, metavar="PID", help="end when the parent process PID ends")
    parser.add_argument("-v", "--version", action="version", version="softswitch of the SFC Testbed")
    parser.add_argument("--json-version", action="version", version=f"{JSON_MAJOR}.{JSON_MINOR_NEWEST}")
    levels = (*PACKET_LEVELS, "info", "warn", "error", "off")
    level = "detail of the log; from info on it has no packets; default: trace"
    parser.add_argument("-L", "--log-level", choices=levels, default="trace", help=level)
    parser.add_argument("--log-flush", action="store_true", help="write each line of the log at once")
    parser.add_argument(
        "--device-id", type=_number, default=0, metavar="N", help="device ID that the Thrift server reports"
    )
    for name in ("--log-file-max-size", "--log-file-max-files", "--max-port-count"):
        parser.add_argument(name, type=_number, metavar="N", help=_WITHOUT_EFFECT)
    _add_refused(parser, REFUSED)
    return parser


def _target_parser() -> argparse.ArgumentParser:
    parser = _Parser("simple_switch", add_help=False)
    parser.add_argument("--drop-port", type=_number, default=_DROP_PORT)
    for name in ("--priority-queues", "--max-mc-groups", "--max-l1-entries", "--max-l2-entries"):
        parser.add_argument(name, type=_positive, default=1)
    _add_refused(parser, REFUSED_OF_TARGET)
    return parser


def _number(word: str) -> int:
    if not (word.isascii() and word.isdigit()):
        raise argparse.ArgumentTypeError(f"'{word}' is not a number")
    return int(word)


def _positive(word: str) -> int:
    if _number(word) == 0:
        raise argparse.ArgumentTypeError("0 is too few")
    return int(word)


def _port(word: str) -> int:
    if not 0 < _number(word) < 1 << 16:
        raise argparse.ArgumentTypeError(f"{word} is not a TCP port")
    return int(word)


def _end_with(parent: int) -> None:
    if os.getppid() != parent:
        _refuse(f"--end-with {parent}: the parent is process {os.getppid()}")
    die_with_parent(parent=parent)


def _log_to(path: Path) -> None:
    with path.open("ab") as log:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(log.fileno(), stream.fileno())


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
        _end_with(switch)
        control = Path(options.control).absolute()
        _wait_for(control)
        path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        words = ["-m", THRIFT_SERVER, "--control", str(control), "--program", str(program.absolute())]
        words += ["--port", str(options.thrift_port), "--device-id", str(options.device_id)]
        words += ["--notifications", options.notifications_addr or _NOTIFICATIONS.format(options.device_id)]
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
    print(visible(f"simple_switch: {line}", keep="\n"), file=sys.stderr)


def _refuse(line: str) -> NoReturn:
    _say(line)
    sys.exit(BAD_INPUT)


if __name__ == "__main__":
    main()
