# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A command with the options of BMv2's simple_switch_grpc: a switch with P4Runtime, and with Thrift on request.

This process owns all listening sockets. The switch runs in a child process, which ends with this one.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from os_helpers.cache import CacheRefused
from softswitch import bmv2_options
from softswitch.build import BuildError
from softswitch.codegen.ir.source import CodegenError
from softswitch.p4c import CompileError, program_json

if TYPE_CHECKING:
    from softswitch.p4runtime.device import Device
    from softswitch.p4runtime.server import Endpoints

_COMMAND = "simple_switch_grpc"
_DEFAULT_ADDRESS = "127.0.0.1:9559"
_LOOPBACK = ("127.", "localhost:", "[::1]:", "unix:")
_MOST_CPU_PORT = 510
_LEAST_METADATA_BYTES, _MOST_METADATA_BYTES = 8192, 16 << 20
_SWITCH_GONE = 1
_NEEDED = ("grpc", "p4", "thriftpy2")

REFUSED_OF_TARGET = {
    "--dp-grpc-server-addr": "frames come from interfaces; a packet-out enters at the port of --cpu-port",
}
_USAGE = f"{_COMMAND} [-i PORT@IFACE ...] [OPTION...] PROGRAM.json|--no-p4 [-- OPTION...]"


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Serve until a signal (status 0) or the end of the switch (1), or exit with status 2 and a one-line message."""
    options = read_options(sys.argv[1:] if arguments is None else arguments)
    _set_process_name()
    if options.end_with is not None:
        bmv2_options.end_with(_COMMAND, options.end_with)
    _check_installed()
    if options.log_file:
        try:
            bmv2_options.log_to(Path(f"{options.log_file}.txt"))
        except OSError as error:
            _refuse(f"{error.filename}: {error.strerror}")
    reason = _serve(options)
    if reason:
        bmv2_options.say(_COMMAND, reason)
    sys.exit(_SWITCH_GONE if reason else 0)


def read_options(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the checked options; words after `--` are target options, as in BMv2. Exit with status 2 on an error."""
    options, target = bmv2_options.parse(arguments, _general_parser(), _target_parser())
    options.target = target
    bmv2_options.check(_COMMAND, options, options.target)
    if options.no_p4 == (options.program is not None):
        _refuse("give either a program or --no-p4")
    if options.commands and options.no_p4:
        _refuse("--commands needs a program; with --no-p4, clients set the tables")
    if options.notifications_addr:
        _say(f"--notifications-addr {options.notifications_addr}: ignored, because digests go to P4Runtime clients")
    _check_cpu_port(options)
    _check_address(options.target)
    metadata_bytes = options.target.grpc_client_metadata
    if not _LEAST_METADATA_BYTES <= metadata_bytes <= _MOST_METADATA_BYTES:
        _refuse(f"--grpc-client-metadata {metadata_bytes}: {_LEAST_METADATA_BYTES} to {_MOST_METADATA_BYTES} bytes")
    return options


def _check_cpu_port(options: argparse.Namespace) -> None:
    cpu_port = options.target.cpu_port
    if cpu_port is None:
        return
    if cpu_port > _MOST_CPU_PORT:
        _refuse(f"--cpu-port {cpu_port}: a port is at most {_MOST_CPU_PORT}")
    taken = [word for word in options.interface if word.partition("@")[0] == str(cpu_port)]
    if taken:
        _refuse(f"-i {taken[0]}: port {cpu_port} is the CPU port, which has no interface")


def _check_address(target: argparse.Namespace) -> None:
    has_files = target.grpc_server_cert is not None and target.grpc_server_key is not None
    if target.grpc_server_ssl and not has_files:
        _refuse("--grpc-server-ssl needs --grpc-server-cert and --grpc-server-key")
    if target.grpc_server_with_client_auth and target.grpc_server_cacert is None:
        _refuse("--grpc-server-with-client-auth needs --grpc-server-cacert")
    if not target.grpc_server_ssl and (has_files or target.grpc_server_cacert or target.grpc_server_with_client_auth):
        _refuse("certificates are used with --grpc-server-ssl only; give that too")
    address = target.grpc_server_addr
    host, _, port = address.rpartition(":")
    if not address.startswith("unix:") and not (host and port.isdecimal()):
        _refuse(f"--grpc-server-addr {address}: it is not HOST:PORT")
    if not address.startswith(_LOOPBACK) and not target.grpc_server_with_client_auth:
        _say(f"--grpc-server-addr {address}: whoever can reach this address controls the switch")


def _general_parser() -> argparse.ArgumentParser:
    description = "softswitch with P4Runtime, under the options of BMv2's simple_switch_grpc."
    parser = bmv2_options.Parser(_COMMAND, usage=_USAGE, description=description)
    parser.epilog = (
        f"After '--': --grpc-server-addr HOST:PORT (default: {_DEFAULT_ADDRESS}), --cpu-port N, --grpc-server-ssl, "
        "--grpc-server-cert FILE, --grpc-server-key FILE, --grpc-server-cacert FILE, --grpc-server-with-client-auth, "
        f"--grpc-client-metadata BYTES (default: {_LEAST_METADATA_BYTES}); "
        f"--drop-port {bmv2_options.DROP_PORT}, --priority-queues 1 to {bmv2_options.QUEUES}, --max-mc-groups N, "
        "--max-l1-entries N, --max-l2-entries N and --disable-swap have no effect."
    )
    parser.add_argument("--no-p4", action="store_true", help="wait for a P4Runtime client that sets the program")
    bmv2_options.add_general(parser)
    parser.add_argument(
        "--device-id", type=bmv2_options.number, default=0, metavar="N", help="device ID of clients; default: 0"
    )
    parser.add_argument("--notifications-addr", metavar="ADDRESS", help="accepted with a warning")
    return parser


def _target_parser() -> argparse.ArgumentParser:
    parser = bmv2_options.Parser(_COMMAND, add_help=False)
    bmv2_options.add_of_target(parser)
    parser.add_argument("--grpc-server-addr", default=_DEFAULT_ADDRESS)
    parser.add_argument("--cpu-port", type=bmv2_options.number)
    parser.add_argument("--grpc-client-metadata", type=bmv2_options.number, default=_LEAST_METADATA_BYTES)
    parser.add_argument("--grpc-server-ssl", action="store_true")
    parser.add_argument("--grpc-server-with-client-auth", action="store_true")
    for name in ("--grpc-server-cacert", "--grpc-server-cert", "--grpc-server-key"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--disable-swap", action="store_true")
    bmv2_options.add_refused(parser, REFUSED_OF_TARGET)
    return parser


def _set_process_name() -> None:
    """Replace the interpreter's name by that of BMv2's process, since scripts end the switch with `pkill`."""
    with suppress(OSError):
        Path("/proc/self/comm").write_text(_COMMAND, encoding="ascii")  # the kernel keeps 15 characters


def _check_installed() -> None:
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        _refuse(f"no package {missing[0]}: install grpcio, p4runtime and thriftpy2 for {sys.executable}")


def _serve(options: argparse.Namespace) -> str:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # our own lines report errors
    from softswitch.p4runtime.device import DeviceError
    from softswitch.p4runtime.server import ServeError, SwitchServer

    try:
        program = None if options.no_p4 else program_json(Path(options.program))
        device = _device(options)
        server = SwitchServer(device, options.device_id, _endpoints(options))
        commands = None if options.commands is None else Path(options.commands)
        return asyncio.run(server.run(program, commands, lambda address: print(f"ready {address}", flush=True)))
    except (ServeError, DeviceError, BuildError, CacheRefused, CodegenError, CompileError, OSError) as error:
        _refuse(bmv2_options.reason(error))


def _device(options: argparse.Namespace) -> Device:
    from softswitch.p4runtime.device import Device

    return Device(
        options.interface,
        bmv2_options.own_arguments(options),
        options.target.cpu_port,
        logs_packets=bmv2_options.logs_packets(options),
    )


def _endpoints(options: argparse.Namespace) -> Endpoints:
    from softswitch.p4runtime.server import Endpoints, Tls

    target, tls = options.target, None
    if target.grpc_server_ssl:
        tls = Tls(
            target.grpc_server_cert,
            target.grpc_server_key,
            target.grpc_server_cacert,
            target.grpc_server_with_client_auth,
        )
    return Endpoints(target.grpc_server_addr, target.grpc_client_metadata, tls, options.thrift_port)


def _say(line: str) -> None:
    bmv2_options.say(_COMMAND, line)


def _refuse(line: str) -> NoReturn:
    bmv2_options.refuse(_COMMAND, line)


if __name__ == "__main__":
    main()
