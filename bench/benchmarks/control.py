# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Rates of a switch's control plane: table inserts over P4Runtime and Thrift, and packets to a controller."""

from __future__ import annotations

import os
import queue
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import text_format

from bench.instruments.benchmark import Benchmark, Figure
from bench.instruments.network import veth_pairs
from sfc_testbed.testbed.system.namespace import can_make_namespaces
from sfc_testbed.testbed.targets.bmv2.installation import simple_switch_on_path
from sfc_testbed.testbed.targets.bmv2.thrift import ThriftConnection, interface
from softswitch.p4runtime.byte_strings import encoded
from softswitch.p4runtime.messages import client_calls, config, v1

_ROOT = Path(__file__).resolve().parents[2]
_SOFTSWITCH = _ROOT / "softswitch" / "simple_switch_grpc"
_PROGRAM = _ROOT / "softswitch" / "tests" / "softswitch_tests" / "programs" / "artifacts" / "controlled.json"
_TABLE, _FORWARD, _PUNT = "In.exact_match", "In.forward", "In.punt"
_ENTRIES = 4_000
_BATCH = 1_000
_DEVICE_ID, _CPU_PORT, _EGRESS_PORT = 1, 9, 2
_FRAMES = 5_000
_MOST_IN_FLIGHT = 16
"""The maximum number of frames that have not arrived. The ring of BMv2's port has room for 32 frames."""
_PUNTED_KEY = 7
_INTERFACE, _FAR_INTERFACE = "port", "far"
_SILENCE_S = 1.0
"""A packet to the controller that takes longer than this counts as lost."""
_PATIENCE_S = 60.0


class ControlBenchmark(Benchmark):
    """Inserts into an empty table of 4,096 entries with an exact key, and packets that a program gives to a controller.

    BMv2 is measured too if `simple_switch` is on the PATH and `simple_switch_grpc` beside it. As root, the packets come
    over a veth pair. Otherwise they come over a pair of sockets, and BMv2's packets are left out.
    """

    name = "control"
    summary = "table inserts/s over P4Runtime and Thrift, one at a time and in batches, and packets/s to a controller"

    def run(self) -> list[Figure]:
        bmv2 = _bmv2_server()
        with _port() as port:
            figures = _rates([sys.executable, str(_SOFTSWITCH)], port)
            if bmv2 is not None:
                with_packets = port if port.pair is None else None
                figures += _beside(figures, _rates([str(bmv2), "--log-level", "off"], with_packets))
        return figures


def _beside(ours: Sequence[Figure], theirs: Sequence[Figure]) -> list[Figure]:
    """Return BMv2's figures, each with the ratio of softswitch's figure of that name to it."""
    own = {figure.name: figure.value for figure in ours}
    figures = []
    for figure in theirs:
        figures.append(replace(figure, name=f"BMv2: {figure.name}"))
        figures.append(Figure(f"{figure.name}: softswitch / BMv2", own[figure.name] / figure.value))
    return figures


def _rates(command: Sequence[str], port: _Port | None) -> list[Figure]:
    """Start a P4Runtime server and return its rates. Without a port, only inserts are measured."""
    with _served(command, port) as (address, thrift_port):
        client = _Client(address)
        figures = [
            Figure("P4Runtime, one at a time", client.insert_rate(1), "inserts/s"),
            Figure("P4Runtime, 1,000 in a batch", client.insert_rate(_BATCH), "inserts/s"),
        ]
        if port is not None:
            rate, n_arrived = client.packet_rate(port.far_end)
            note = f"{n_arrived:,} of {_FRAMES:,} arrived"
            figures.append(Figure("to a controller", rate, "packets/s", note=note))
        figures.append(Figure("Thrift, one at a time", _thrift_rate(thrift_port), "inserts/s"))
        client.close()
    return figures


@dataclass(frozen=True)
class _Port:
    """A port of the switch: the name of its interface, and the socket at the other end.

    `pair` is the switch's end of a pair of sockets, and None for a network interface.
    """

    interface: str
    far_end: socket.socket
    pair: socket.socket | None = None


class _Client:
    """A P4Runtime controller that is primary and has set the program."""

    def __init__(self, address: str) -> None:
        p4info = text_format.Parse(_PROGRAM.with_suffix(".p4info.txtpb").read_text(encoding="utf-8"), config.P4Info())
        self._ids = {item.preamble.name: item.preamble.id for item in (*p4info.tables, *p4info.actions)}
        self._channel = grpc.insecure_channel(address)
        self._calls = client_calls(self._channel)
        self._requests: queue.Queue[Any] = queue.Queue()
        self._stream = self._calls["StreamChannel"](iter(self._requests.get, None))
        self._election = v1.Uint128(low=1)
        self._requests.put(
            v1.StreamMessageRequest(arbitration={"device_id": _DEVICE_ID, "election_id": self._election})
        )
        next(self._stream)
        request = v1.SetForwardingPipelineConfigRequest(device_id=_DEVICE_ID, election_id=self._election)
        request.action = v1.SetForwardingPipelineConfigRequest.Action.Value("VERIFY_AND_COMMIT")
        request.config.p4info.CopyFrom(p4info)
        request.config.p4_device_config = _PROGRAM.read_bytes()
        self._calls["SetForwardingPipelineConfig"](request)

    def insert_rate(self, batch: int) -> float:
        """Fill the table with `batch` entries in a request, empty the table, and return the inserts per second."""
        entries = [self._entry(key, _FORWARD, _EGRESS_PORT) for key in range(1, _ENTRIES + 1)]
        inserts = list(self._requests_of(v1.Update.INSERT, entries, batch))
        took_s = _seconds(lambda: [self._calls["Write"](request) for request in inserts])
        for request in self._requests_of(v1.Update.DELETE, entries, _BATCH):
            self._calls["Write"](request)
        return _ENTRIES / took_s

    def packet_rate(self, port: socket.socket) -> tuple[float, int]:
        """Send frames that the program gives to the controller; return packets per second and how many arrived."""
        [request] = self._requests_of(v1.Update.INSERT, [self._entry(_PUNTED_KEY, _PUNT, 1)], 1)
        self._calls["Write"](request)
        frame = struct.pack(">BHHIB", 0, _PUNTED_KEY, 0, 0, 0) + bytes(50)
        may_send = threading.Semaphore(_MOST_IN_FLIGHT)
        arrivals_s: list[float] = []

        def read() -> None:
            try:
                for message in self._stream:
                    if message.WhichOneof("update") == "packet":
                        arrivals_s.append(time.perf_counter())
                        may_send.release()
            except grpc.RpcError:
                return  # the channel was closed

        threading.Thread(target=read, daemon=True).start()
        began_s = time.perf_counter()
        for number in range(_FRAMES + _MOST_IN_FLIGHT):  # the last ones only wait for the arrival of the others
            if not may_send.acquire(timeout=_SILENCE_S):
                break
            if number < _FRAMES:
                port.send(frame)
        [request] = self._requests_of(v1.Update.DELETE, [self._entry(_PUNTED_KEY, _PUNT, 1)], 1)
        self._calls["Write"](request)
        n_arrived = len(arrivals_s)
        return n_arrived / max(arrivals_s[-1] - began_s, 1e-9) if arrivals_s else 0.0, n_arrived

    def close(self) -> None:
        """End the stream and close the channel."""
        self._requests.put(None)
        self._channel.close()

    def _entry(self, key: int, action: str, value: int) -> Any:
        entry = v1.TableEntry(table_id=self._ids[_TABLE])
        entry.match.add(field_id=1, exact={"value": encoded(key)})
        entry.action.action.action_id = self._ids[action]
        entry.action.action.params.add(param_id=1, value=encoded(value))
        return entry

    def _requests_of(self, kind: int, entries: Sequence[Any], batch: int) -> Iterator[Any]:
        for begin in range(0, len(entries), batch):
            updates = [v1.Update(type=kind, entity={"table_entry": entry}) for entry in entries[begin : begin + batch]]
            yield v1.WriteRequest(device_id=_DEVICE_ID, election_id=self._election, updates=updates)


def _thrift_rate(port: int) -> float:
    """Fill the table over Thrift, empty the table, and return the inserts per second."""
    types = interface()

    def insert_all(connection: ThriftConnection) -> None:
        data = [_EGRESS_PORT.to_bytes(2, "big")]
        for key in range(1, _ENTRIES + 1):
            match = types.Match(type=types.MatchType.EXACT, exact=types.Exact(key.to_bytes(2, "big")))
            connection.call("standard", "bm_mt_add_entry", 0, _TABLE, [match], _FORWARD, data, types.EntryOptions())

    with ThriftConnection.to_ready_switch(port) as connection:
        took_s = _seconds(lambda: insert_all(connection))
        connection.call("standard", "bm_mt_clear_entries", 0, _TABLE, False)
    return _ENTRIES / took_s


def _seconds(work: Callable[[], object]) -> float:
    began_s = time.perf_counter()
    work()
    return time.perf_counter() - began_s


@contextmanager
def _port() -> Iterator[_Port]:
    """Yield a port: a veth pair in a new network namespace where possible, else a pair of sockets."""
    if os.geteuid() == 0 and can_make_namespaces() is None:
        with veth_pairs([(_INTERFACE, _FAR_INTERFACE)]), socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as far_end:
            far_end.bind((_FAR_INTERFACE, 0))
            yield _Port(_INTERFACE, far_end)
    else:
        outside, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with outside, inside:
            yield _Port(f"fd:{inside.fileno()}", outside, inside)


@contextmanager
def _served(command: Sequence[str], port: _Port | None) -> Iterator[tuple[str, int]]:
    """Start a `simple_switch_grpc` without a program; yield the address of its gRPC server and its Thrift port.

    The gRPC server has a Unix socket, which gRPC's threads can reach from every network namespace.
    """
    thrift_port = _free_port()
    descriptors = [] if port is None or port.pair is None else [port.pair.fileno()]
    with tempfile.TemporaryDirectory(prefix="sfc-bench-") as folder:
        address = f"unix:{folder}/grpc"
        words = [*command, "--no-p4", "--device-id", str(_DEVICE_ID), "--thrift-port", str(thrift_port)]
        words += [] if port is None else ["-i", f"1@{port.interface}"]
        words += ["--", "--grpc-server-addr", address, "--cpu-port", str(_CPU_PORT)]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, pass_fds=descriptors) as process:
            try:
                with grpc.insecure_channel(address) as channel:
                    grpc.channel_ready_future(channel).result(timeout=_PATIENCE_S)
                yield address, thrift_port
            finally:
                process.terminate()


def _bmv2_server() -> Path | None:
    """Return BMv2's `simple_switch_grpc` beside the `simple_switch` on the PATH, or None."""
    simple_switch = simple_switch_on_path()
    server = None if simple_switch is None else Path(simple_switch).with_name("simple_switch_grpc")
    return server if server is not None and server.exists() else None


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
