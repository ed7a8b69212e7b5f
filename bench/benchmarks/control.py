# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Rates of a switch's control plane: table inserts over P4Runtime and Thrift, and packets to a controller."""

from __future__ import annotations

import queue
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import text_format

from bench.instruments.benchmark import Benchmark, Figure
from softswitch.p4runtime.byte_strings import encoded
from softswitch.p4runtime.messages import client_calls, config, v1
from testbed.targets.bmv2.installation import simple_switch_on_path
from testbed.targets.bmv2.thrift import ThriftConnection, interface

_ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = _ROOT / "softswitch" / "tests" / "softswitch_tests" / "programs" / "artifacts" / "controlled.json"
_TABLE, _FORWARD, _PUNT = "In.exact_match", "In.forward", "In.punt"
_ENTRIES = 4_000
_BATCH = 1_000
_DEVICE_ID, _CPU_PORT, _EGRESS_PORT = 1, 9, 2
_FRAMES = 5_000
_PUNTED_KEY = 7
_SILENCE_S = 1.0
"""A packet to the controller that takes longer than this counts as lost."""
_PATIENCE_S = 60.0


class ControlBenchmark(Benchmark):
    """Inserts into an empty table of 4,096 entries with an exact key. BMv2 is measured too if it is on the PATH."""

    name = "control"
    summary = "table inserts/s over P4Runtime and Thrift, one at a time and in batches, and packets/s to a controller"

    def run(self) -> list[Figure]:
        outside, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with outside, inside, _softswitch(inside) as (address, thrift_port):
            client = _Client(address)
            figures = [
                Figure("P4Runtime, one at a time", client.insert_rate(1), "inserts/s"),
                Figure("P4Runtime, 1,000 in a batch", client.insert_rate(_BATCH), "inserts/s"),
            ]
            rate, n_arrived = client.packet_rate(outside)
            figures.append(Figure("to a controller", rate, "packets/s", note=f"{n_arrived:,} of {_FRAMES:,} arrived"))
            ours = _thrift_rate(thrift_port)
            client.close()
        figures.append(Figure("Thrift, one at a time", ours, "inserts/s"))
        bmv2 = simple_switch_on_path()
        if bmv2 is not None:
            with _bmv2(bmv2) as port:
                theirs = _thrift_rate(port)
            figures.append(Figure("BMv2: Thrift, one at a time", theirs, "inserts/s"))
            figures.append(Figure("Thrift: softswitch / BMv2", ours / theirs))
            figures += beside_bmv2(Path(bmv2).with_name("simple_switch_grpc"), figures[:2])
        return figures


def beside_bmv2(server: Path, ours: Sequence[Figure]) -> list[Figure]:
    """Return the rates of inserts over P4Runtime of BMv2's server and ours divided by them; none if it is missing."""
    if not server.exists():
        return []
    with _bmv2_server(server) as address:
        client = _Client(address)
        rates = [client.insert_rate(batch) for batch in (1, _BATCH)]
        client.close()
    figures = []
    for figure, rate in zip(ours, rates, strict=True):
        figures.append(Figure(f"BMv2: {figure.name}", rate, "inserts/s"))
        figures.append(Figure(f"{figure.name}: softswitch / BMv2", figure.value / rate))
    return figures


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
        arrivals: queue.Queue[float] = queue.Queue()

        def read() -> None:
            try:
                for message in self._stream:
                    if message.WhichOneof("update") == "packet":
                        arrivals.put(time.perf_counter())
            except grpc.RpcError:
                return  # the channel was closed

        threading.Thread(target=read, daemon=True).start()
        began_s = last_s = time.perf_counter()
        sender = threading.Thread(target=lambda: [port.send(frame) for _ in range(_FRAMES)])
        sender.start()
        n_arrived = 0
        try:
            while n_arrived < _FRAMES:
                last_s = arrivals.get(timeout=_SILENCE_S)
                n_arrived += 1
        except queue.Empty:
            pass
        sender.join()
        [request] = self._requests_of(v1.Update.DELETE, [self._entry(_PUNTED_KEY, _PUNT, 1)], 1)
        self._calls["Write"](request)
        return n_arrived / max(last_s - began_s, 1e-9), n_arrived

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
def _softswitch(port: socket.socket) -> Iterator[tuple[str, int]]:
    """Start `simple_switch_grpc` on a port; yield the address of its gRPC server and its Thrift port."""
    thrift_port = _free_port()
    words = [sys.executable, str(_ROOT / "softswitch" / "simple_switch_grpc"), "--device-id", str(_DEVICE_ID)]
    words += ["-i", f"1@fd:{port.fileno()}", "--thrift-port", str(thrift_port), str(_PROGRAM)]
    words += ["--", "--grpc-server-addr", "127.0.0.1:0", "--cpu-port", str(_CPU_PORT)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, pass_fds=[port.fileno()]) as process:
        try:
            assert process.stdout is not None
            ready = next(line for line in process.stdout if line.startswith("ready "))
            yield ready.split()[1], thrift_port
        finally:
            process.terminate()


@contextmanager
def _bmv2(path: str) -> Iterator[int]:
    """Start BMv2 without ports and without its log; yield its Thrift port."""
    port = _free_port()
    words = [path, "--thrift-port", str(port), "--log-level", "off", str(_PROGRAM)]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        try:
            _wait_for_thrift(port)
            yield port
        finally:
            process.terminate()


@contextmanager
def _bmv2_server(path: Path) -> Iterator[str]:
    """Start BMv2's P4Runtime server without ports and program; yield its address."""
    address, thrift_port = f"127.0.0.1:{_free_port()}", _free_port()
    words = [str(path), "--no-p4", "--device-id", str(_DEVICE_ID), "--thrift-port", str(thrift_port)]
    words += ["--log-level", "off", "--", "--grpc-server-addr", address]
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        try:
            with grpc.insecure_channel(address) as channel:
                grpc.channel_ready_future(channel).result(timeout=_PATIENCE_S)
            yield address
        finally:
            process.terminate()


def _wait_for_thrift(port: int) -> None:
    deadline_s = time.monotonic() + _PATIENCE_S
    while True:
        try:
            ThriftConnection.to_ready_switch(port).close()
            return
        except ConnectionError:
            if time.monotonic() > deadline_s:
                raise
            time.sleep(0.05)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])
