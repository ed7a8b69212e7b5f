# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The options of BMv2's simple_switch in front of softswitch: builds the program, then becomes the switch.

Whoever starts `simple_switch` may start this instead: the process that was started is the switch, and its signals are
the switch's. An option that asks for what is not here is refused in one line; those that change nothing are taken.
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

from compiled.cache import CacheRefused
from compiled.visible import visible
from softswitch.build import BuildError, build_executable
from softswitch.codegen import CodegenError
from softswitch.codegen.load.program import JSON_MAJOR, JSON_MINOR_NEWEST
from softswitch.control import ControlClient
from softswitch.p4c import CompileError, program_json
from softswitch.parent import ends_with
from softswitch.sockets import new_name

ROOT = Path(__file__).resolve().parent.parent
THRIFT_SERVER = "softswitch.thrift"
BAD_INPUT = 2
_DROP_PORT = 511
_QUEUES = 8
_NOTIFICATIONS = "ipc:///tmp/bmv2-{}-notifications.ipc"
"""As BMv2: where digests go unless it is said."""
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
    "--debugger": "there is none; the command drops_read tells where packets ended",
    "--debugger-addr": "there is none; the command drops_read tells where packets ended",
    "--restore-state": "a switch starts empty; give its entries in a file, --commands FILE",
    "--no-p4": "a switch is compiled from its program; give one",
}
REFUSED_OF_TARGET = {
    "--enable-swap": "a running program cannot be swapped; start another switch",
    "--load-modules": "no modules can be loaded",
    "--grpc-server-addr": _NO_P4RUNTIME,
    "--cpu-port": _NO_P4RUNTIME,
}
_USAGE = "simple_switch -i PORT@IFACE [-i ...] [OPTION...] PROGRAM.json [-- OPTION...]"
_WITHOUT_EFFECT = "taken, changes nothing"


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Becomes the switch, or exits with 2 and one line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    options = read_options(sys.argv[1:] if arguments is None else arguments)
    if options.end_with is not None:
        _end_with(options.end_with)
    try:
        program = program_json(Path(options.program))
        executable = build_executable(program)
        if options.log_file:
            _log_to(Path(f"{options.log_file}.txt"))
    except (BuildError, CacheRefused, CodegenError, CompileError, OSError) as error:
        _refuse(str(error))
    if options.thrift_port is not None:
        options.control = options.control or new_name(str(os.getpid()))
        _start_server(options, program)
    os.execv(executable, ["softswitch", *switch_arguments(options)])


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Checked; what stands behind `--` is the target's, as with BMv2. Exits with 2 and one line for what is wrong."""
    words = list(arguments)
    end = words.index("--") if "--" in words else len(words)
    options = _general_parser().parse_args(words[:end])
    target = _target_parser().parse_args(words[end + 1 :])
    if options.log_console and options.log_file:
        _refuse("--log-console and --log-file exclude each other")
    if options.thrift_port is not None and importlib.util.find_spec(THRIFT_SERVER) is None:
        _refuse("--thrift-port: there is no Thrift server here; give commands in a file, --commands FILE")
    if options.notifications_addr is not None:
        _check_notifications(options)
    if options.nanolog:
        _say(f"--nanolog {options.nanolog}: there is no event log, the switch goes on without")
    if target.drop_port != _DROP_PORT:
        _refuse(f"--drop-port {target.drop_port}: a packet is dropped by port {_DROP_PORT}, no other")
    if target.priority_queues > _QUEUES:
        _refuse(f"--priority-queues {target.priority_queues}: a port has {_QUEUES} strict-priority queues")
    return options


def _check_notifications(options: argparse.Namespace) -> None:
    if options.thrift_port is None:
        _refuse("--notifications-addr: the server of --thrift-port sends digests; give that too")
    if not options.notifications_addr.startswith("ipc:///"):
        _refuse(f"--notifications-addr {options.notifications_addr}: digests go to a Unix socket, ipc:///PATH")


def switch_arguments(options: argparse.Namespace) -> list[str]:
    """The words for the switch itself."""
    words = [word for each in options.interface for word in ("-i", each)]
    for name in ("commands", "control", "pcap"):
        if value := getattr(options, name):
            words += [f"--{name}", str(value)]
    return [*words, "--realtime"] if options.realtime else words


class _Parser(argparse.ArgumentParser):
    """Complains in one line."""

    def error(self, message: str) -> NoReturn:
        _refuse(message)


class _Refuse(argparse.Action):
    """An option of BMv2 that is refused, with the reason as its help."""

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
        f"Behind '--': --drop-port {_DROP_PORT}, --priority-queues 1 to {_QUEUES}, --max-mc-groups N, "
        "--max-l1-entries N, --max-l2-entries N; they change nothing."
    )
    parser.add_argument("program", metavar="PROGRAM.json", help="what p4c makes of a P4 program, or the .p4 itself")
    parser.add_argument("-i", "--interface", action="append", default=[], metavar="PORT@IFACE", help="a port, 0 to 509")
    parser.add_argument(
        "--thrift-port", type=_port, metavar="N", help="listen for simple_switch_CLI there; else nowhere"
    )
    parser.add_argument("--log-file", metavar="FILE", help="what the switch says goes to FILE.txt")
    parser.add_argument("--log-console", action="store_true", help="what it says goes to the terminal, as without")
    notifications = "digests are sent there, ipc://PATH; unless given ipc:///tmp/bmv2-N-notifications.ipc of device N"
    parser.add_argument("--notifications-addr", metavar="ADDRESS", help=notifications)
    parser.add_argument("--nanolog", metavar="ADDRESS", help="taken with a warning: there is no event log")
    pcap = "write each port's frames to DIR/IFACE_in.pcap and DIR/IFACE_out.pcap; without DIR here"
    parser.add_argument("--pcap", nargs="?", const=".", metavar="DIR", help=pcap)
    parser.add_argument("--commands", metavar="FILE", help="lines of simple_switch_CLI to run before the first frame")
    parser.add_argument("--control", metavar="SOCKET", help="listen for such lines on this Unix socket")
    parser.add_argument("--realtime", action="store_true", help="run before all ordinary processes (SCHED_RR)")
    parser.add_argument("--end-with", type=_number, metavar="PID", help="end when the parent, process PID, does")
    parser.add_argument("-v", "--version", action="version", version="softswitch of the SFC Testbed")
    parser.add_argument("--json-version", action="version", version=f"{JSON_MAJOR}.{JSON_MINOR_NEWEST}")
    levels = ("trace", "debug", "info", "warn", "error", "off")
    parser.add_argument("-L", "--log-level", choices=levels, help=_WITHOUT_EFFECT)
    parser.add_argument("--log-flush", action="store_true", help=_WITHOUT_EFFECT)
    parser.add_argument("--device-id", type=_number, default=0, metavar="N", help="what clients of the server are told")
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
    if not ends_with(parent):
        _refuse(f"--end-with {parent}: the parent is process {os.getppid()}")


def _log_to(path: Path) -> None:
    with path.open("ab") as log:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(log.fileno(), stream.fileno())


def _start_server(options: argparse.Namespace, program: Path) -> None:
    """The Thrift server as a child: it waits until the switch listens, and ends with it."""
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
        os.chdir(ROOT)  # where `-m` looks first: not in whatever folder this was called in, least of all as root
        os.execve(sys.executable, [sys.executable, *words], {**os.environ, "PYTHONPATH": path})
    except OSError as error:
        _say(f"the Thrift server: {error}")
    finally:
        os._exit(1)  # whatever happens: there must not be two of us


def _wait_for(control: Path) -> None:
    """Until somebody listens there. OSError when nobody does for long."""
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
