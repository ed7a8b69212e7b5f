# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The options of BMv2's commands that simple_switch and simple_switch_grpc share, and their errors in one line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from os_helpers.parent import die_with_parent
from os_helpers.visible import visible
from softswitch.codegen.load.program import JSON_MAJOR, JSON_MINOR_NEWEST

BAD_INPUT = 2
DROP_PORT = 511
QUEUES = 8
WITHOUT_EFFECT = "accepted, has no effect"
PACKET_LEVELS = ("trace", "debug")
"""The levels of BMv2's log that show the way of packets."""
CAPTURE = "--pcap has every frame of every port"
_STF = "frames come from interfaces; python -m softswitch.stf runs a program on frames from a file"
_UNKNOWN = "there is no such option; --help lists the options"
_DEBUGGER = "there is no debugger; the command drops_read shows where packets were dropped"

REFUSED = {
    "--trace-dir": f"the switch writes no traces; {CAPTURE}",
    "--use-files": _STF,
    "--packet-in": _STF,
    "--debugger": _DEBUGGER,
    "--debugger-addr": _DEBUGGER,
    "--restore-state": "a switch starts empty; give its entries in a file, --commands FILE",
}
"""The options that both commands refuse, with the reason."""

REFUSED_OF_TARGET = {"--load-modules": "no modules can be loaded"}
"""The target options that both commands refuse, with the reason."""

_OF_TARGET = (
    *("--drop-port", "--priority-queues", "--max-mc-groups", "--max-l1-entries", "--max-l2-entries", "--enable-swap"),
    *("--disable-swap", "--cpu-port", "--grpc-server-addr", "--dp-grpc-server-addr", "--grpc-server-ssl"),
    *("--grpc-server-cacert", "--grpc-server-cert", "--grpc-server-key", "--grpc-server-with-client-auth"),
)
"""BMv2's target options, which its commands take after `--` alone."""


def say(command: str, line: str) -> None:
    """Print a line of a command on stderr."""
    print(visible(f"{command}: {line}", keep="\n"), file=sys.stderr, flush=True)


def refuse(command: str, line: str) -> NoReturn:
    """End a command for bad input, with one line."""
    say(command, line)
    sys.exit(BAD_INPUT)


class Parser(argparse.ArgumentParser):
    """An argument parser that reports errors in one line."""

    def error(self, message: str) -> NoReturn:
        refuse(self.prog, message)


def parse(
    words: Sequence[str], general: argparse.ArgumentParser, target: argparse.ArgumentParser
) -> tuple[argparse.Namespace, argparse.Namespace]:
    """Return the options before and after `--`, as BMv2 reads them. Without a program before, the first word after
    `--` is the program."""
    end = words.index("--") if "--" in words else len(words)
    before, after = _with_folder(words[:end]), list(words[end + 1 :])
    options = _parsed(general, before, "it is a target option; give it at the end, after --")
    if options.program is None and after and not after[0].startswith("-"):
        options.program = after.pop(0)
    return options, _parsed(target, after, _UNKNOWN)


def _parsed(parser: argparse.ArgumentParser, words: list[str], hint: str) -> argparse.Namespace:
    """Return the options in some words. An unknown option is reported first, since its value looks like a program."""
    _, unknown = parser.parse_known_args(words)
    for word in unknown:
        if word.startswith("-"):
            name = word.partition("=")[0]
            parser.error(f"{name}: {hint if name in _OF_TARGET else _UNKNOWN}")
    if unknown:
        parser.error(f"{unknown[0]}: this word is neither an option nor the program")
    return parser.parse_args(words)


def _with_folder(words: Sequence[str]) -> list[str]:
    """Return the words with a folder for each `--pcap`. The next word may be the program, so it must be a folder."""
    followed_by_folder = [Path(word).is_dir() for word in words[1:]] + [False]
    pairs = zip(words, followed_by_folder[: len(words)], strict=True)
    return ["--pcap=." if word == "--pcap" and not has_folder else word for word, has_folder in pairs]


class _Refuse(argparse.Action):
    """The action of a BMv2 option that is refused; its help text is the reason."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        refuse(parser.prog, f"{self.option_strings[0]}: {self.help}")


def add_refused(parser: argparse.ArgumentParser, refused: Mapping[str, str]) -> None:
    group = parser.add_argument_group("refused")
    for name, reason in refused.items():
        group.add_argument(name, action=_Refuse, nargs="?", help=reason)


def add_general(parser: argparse.ArgumentParser) -> None:
    """Add the program and the options before `--` that both commands have."""
    parser.add_argument("program", nargs="?", metavar="PROGRAM.json", help="BMv2 JSON or .p4 source")
    parser.add_argument("-i", "--interface", action="append", default=[], metavar="PORT@IFACE", help="a port, 0 to 511")
    parser.add_argument("--thrift-port", type=_port, metavar="N", help="TCP port for simple_switch_CLI; default: none")
    parser.add_argument("--log-file", metavar="FILE", help="log the way of every packet to FILE.txt")
    parser.add_argument("--log-console", action="store_true", help="log the way of every packet to the terminal")
    parser.add_argument("--nanolog", metavar="ADDRESS", help="accepted with a warning: there is no event log")
    pcap = "write each port's frames to DIR/IFACE_in.pcap and DIR/IFACE_out.pcap; default DIR: the current folder"
    parser.add_argument("--pcap", nargs="?", const=".", metavar="DIR", help=pcap)
    parser.add_argument("--commands", metavar="FILE", help="simple_switch_CLI commands to run at the start")
    parser.add_argument("--control", metavar="SOCKET", help="listen for commands on this Unix socket")
    parser.add_argument("--realtime", action="store_true", help="run with real-time priority (SCHED_RR)")
    parser.add_argument("--end-with", type=number, metavar="PID", help="end when the parent process PID ends")
    parser.add_argument("-v", "--version", action="version", version="softswitch of the SFC Testbed")
    parser.add_argument("--json-version", action="version", version=f"{JSON_MAJOR}.{JSON_MINOR_NEWEST}")
    levels = (*PACKET_LEVELS, "info", "warn", "error", "off")
    level = "detail of the log; from info on it has no packets; default: trace"
    parser.add_argument("-L", "--log-level", choices=levels, default="trace", help=level)
    parser.add_argument("--log-flush", action="store_true", help="write each line of the log at once")
    for name in ("--log-file-max-size", "--log-file-max-files", "--max-port-count"):
        parser.add_argument(name, type=number, metavar="N", help=WITHOUT_EFFECT)
    parser.add_argument("--dump-packet-data", type=number, metavar="N", help="accepted with a warning")
    add_refused(parser, {**REFUSED, **REFUSED_OF_TARGET})


def add_of_target(parser: argparse.ArgumentParser) -> None:
    """Add the options after `--` that both commands have."""
    parser.add_argument("--drop-port", type=number, default=DROP_PORT)
    for name in ("--priority-queues", "--max-mc-groups", "--max-l1-entries", "--max-l2-entries"):
        parser.add_argument(name, type=_positive, default=1)
    add_refused(parser, REFUSED_OF_TARGET)


def check(command: str, options: argparse.Namespace, target: argparse.Namespace) -> None:
    """End the command if options exclude each other or have values that the switch does not support."""
    if options.log_console and options.log_file:
        refuse(command, "--log-console and --log-file exclude each other")
    if options.nanolog:
        say(command, f"--nanolog {options.nanolog}: ignored, because there is no event log")
    if options.dump_packet_data:
        say(command, f"--dump-packet-data {options.dump_packet_data}: ignored; {CAPTURE}")
    if target.drop_port != DROP_PORT:
        refuse(command, f"--drop-port {target.drop_port}: the drop port is always {DROP_PORT}")
    if target.priority_queues > QUEUES:
        refuse(command, f"--priority-queues {target.priority_queues}: a port has {QUEUES} strict-priority queues")


def own_arguments(options: argparse.Namespace) -> list[str]:
    """Return the words of the switch executable for the options that are not ports."""
    words = []
    for name in ("control", "pcap"):
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


def end_with(command: str, parent: int) -> None:
    """Let this process end with its parent process."""
    if os.getppid() != parent:
        refuse(command, f"--end-with {parent}: the parent is process {os.getppid()}")
    die_with_parent(parent=parent)


def reason(error: Exception) -> str:
    """Return the reason of an error; of a file without the system's number of the error."""
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def log_to(path: Path) -> None:
    """Append all further output of this process to a file."""
    with path.open("ab") as log:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
            os.dup2(log.fileno(), stream.fileno())


def number(word: str) -> int:
    """Return the number in a word of the command line."""
    if not (word.isascii() and word.isdigit()):
        raise argparse.ArgumentTypeError(f"'{word}' is not a number")
    return int(word)


def _positive(word: str) -> int:
    if number(word) == 0:
        raise argparse.ArgumentTypeError("0 is too few")
    return int(word)


def _port(word: str) -> int:
    if not 0 < number(word) < 1 << 16:
        raise argparse.ArgumentTypeError(f"{word} is not a TCP port")
    return int(word)
