# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The process that serves hosts of a live run: ``python -m hosts.agent CONFIG.json``.

It enters its hosts' namespaces to open sockets, then serves all their NICs in one loop. It speaks JSON lines on stdout:
``ready``; ``flow``, ``received`` and ``signal`` rows as they happen; ``progress`` at most five times a second; and on
stop ``unfinished`` rows, ``statistics`` of each host, ``lateness`` and ``stopped``. It listens to lines on stdin:
``start MONOTONIC_NS`` gives the instant of model time 0, ``quiesce`` makes the hosts fall silent while what is on the
way still arrives, ``stop`` or the end of stdin makes it report and exit. SIGTERM is a ``stop``.
"""

import gc
import resource
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import Any

from hosts.agent_config import TAP, AgentConfig, AgentHost
from hosts.build import build_nic, incoming_message, outgoing_message
from hosts.io.event_loop import EventLoop
from hosts.io.kernel_silence import silence_kernel
from hosts.io.lines import LineReader, LineWriter
from hosts.io.namespaces import network_namespace
from hosts.io.packet_socket import PacketSocket
from hosts.io.parent import die_with_parent
from hosts.io.socket_filter import HOST_FRAMES, NIC_FRAMES
from hosts.io.tap import Takeover, TapDevice, give_back, take_over
from hosts.io.timer import MonotonicTimer
from hosts.records import RecordWriter
from hosts.transport.messages import Event
from hosts.transport.nic import Nic
from hosts.transport.settings import TransportSettings
from wire.dilation import Dilation

_FLUSH_NS = 50_000_000
_FLUSHES_PER_PROGRESS = 4
_BAD_INPUT = 2


class _LineSink:
    """Rows as JSON lines."""

    def __init__(self, out: LineWriter) -> None:
        self._out = out
        self.completed = 0

    def flow_finished(self, row: Mapping[str, Any]) -> None:
        """See `hosts.records.RecordSink`."""
        self.completed += 1
        self._out.write({"event": "flow", **row})

    def flow_unfinished(self, row: Mapping[str, Any]) -> None:
        """See `hosts.records.RecordSink`."""
        self._out.write({"event": "unfinished", **row})

    def flow_received(self, flow_id: int, corrupted: bool) -> None:
        """See `hosts.records.RecordSink`."""
        self._out.write({"event": "received", "flow_id": flow_id, "corrupted": corrupted})

    def goodput(self, row: Mapping[str, Any]) -> None:
        """See `hosts.records.RecordSink`."""
        self._out.write({"event": "goodput", **row})

    def signal(self, row: Mapping[str, Any]) -> None:
        """See `hosts.records.RecordSink`."""
        self._out.write({"event": "signal", **row})


class Agent:
    """The hosts of one process: opens their sockets, runs their NICs in one loop, obeys and reports in lines."""

    def __init__(self, config: AgentConfig, stdin: int, stdout: int) -> None:
        """Opens every socket. Raises OSError if a namespace or interface is missing, ValueError for bad settings."""
        self._config = config
        self._dilation = Dilation(config.dilation)
        self._out = LineWriter(stdout)
        self._in = LineReader(stdin)
        self._stdin = stdin
        self._sink = _LineSink(self._out)
        self._records: RecordWriter | None = None
        self._loop = EventLoop(self._on_event)
        self._tick = MonotonicTimer()
        self._reported = -1
        self._ticks = 0
        self._nics: dict[str, Nic] = {}
        self._sockets: dict[str, PacketSocket] = {}
        self._resources = ExitStack()
        self._resources.callback(self._loop.close)
        self._resources.callback(self._tick.close)
        settings = TransportSettings.from_dict(config.settings)
        for host in config.hosts:
            self._open(host, settings)
        for flow in config.flows:
            if flow.dst in self._nics:
                self._nics[flow.dst].expect_message(incoming_message(flow, config.addresses[flow.src]))

    def run(self) -> None:
        """Serve until told to stop, then report."""
        signal.signal(signal.SIGTERM, self._on_terminate)
        self._loop.add_reader(self._stdin, self._on_input)
        self._loop.add_reader(self._tick.fileno(), self._on_tick)
        self._out.write({"event": "ready", "agent": self._config.name, "hosts": len(self._nics)})
        self._on_tick()
        gc.collect()
        gc.freeze()
        self._loop.run()
        self._report()

    def close(self) -> None:
        """Close all sockets."""
        self._resources.close()

    def _open(self, host: AgentHost, settings: TransportSettings) -> None:
        with network_namespace(host.pid):
            for silencer in silence_kernel():
                self._resources.callback(silencer.close)
            socket = PacketSocket(host.interface, HOST_FRAMES if self._config.programs else NIC_FRAMES)
        self._resources.callback(socket.close)
        nic = build_nic(host, settings, self._dilation, epoch_ns=self._config.epoch_ns)
        self._nics[host.name] = nic
        self._sockets[host.name] = socket
        self._loop.add_nic(nic, socket)
        if self._config.programs:
            self._loop.add_programs(socket, self._open_tap(host))

    def _open_tap(self, host: AgentHost) -> TapDevice:
        with network_namespace(host.pid):
            tap = TapDevice(TAP.format(name=host.name))
            self._resources.callback(tap.close)
            taken = take_over(host.interface, tap)
        self._resources.callback(_give_back, host, taken)
        return tap

    def _on_input(self) -> None:
        for line in self._in.lines():
            self._obey(line.split())
        if self._in.is_closed:
            self._loop.remove_reader(self._stdin)
            self._loop.stop()

    def _obey(self, words: Sequence[str]) -> None:
        match words:
            case ["start", instant] if instant.isdecimal() and self._records is None:
                self._start(int(instant))
            case ["quiesce"]:
                self._loop.stop_sending()
            case ["stop"]:
                self._loop.stop()
            case _:
                self._out.write({"event": "error", "message": f"not understood: {' '.join(words)}"})

    def _start(self, start_ns: int) -> None:
        self._records = RecordWriter(self._sink, self._dilation, start_ns)
        for flow in self._config.flows:
            if flow.src in self._nics:
                message = outgoing_message(flow, self._config.addresses[flow.dst], self._dilation, start_ns)
                self._nics[flow.src].send_message(message)
        self._loop.call_soon()

    def _on_event(self, host: str, event: Event) -> None:
        if self._records is not None:
            self._records.write(host, event)

    def _on_tick(self) -> None:
        self._tick.clear()
        self._tick.arm(time.monotonic_ns() + _FLUSH_NS)
        if self._ticks % _FLUSHES_PER_PROGRESS == 0 and self._sink.completed != self._reported:
            self._reported = self._sink.completed
            self._out.write({"event": "progress", "agent": self._config.name, "completed": self._reported})
        self._ticks += 1
        self._out.flush()

    def _on_terminate(self, number: int, frame: FrameType | None) -> None:
        self._loop.stop()

    def _report(self) -> None:
        for name, nic in self._nics.items():
            if self._records is not None:
                self._records.write_rest(nic)
            socket = self._sockets[name]
            self._out.write(
                {
                    "event": "statistics",
                    "host": name,
                    **asdict(nic.statistics()),
                    "kernel_drops": socket.kernel_drops(),
                    "send_failures": socket.send_failures,
                }
            )
        self._out.write({"event": "lateness", "agent": self._config.name, **self._loop.lateness.report()})
        self._out.write({"event": "stopped", "agent": self._config.name})
        self._out.drain()


def _give_back(host: AgentHost, taken: Takeover) -> None:
    """The host's interface is its own again, unless the host has gone."""
    with suppress(OSError), network_namespace(host.pid):
        give_back(taken)


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 served and stopped, 2 bad input (one line on stderr)."""
    if len(arguments) != 1:
        print("usage: python -m hosts.agent CONFIG.json", file=sys.stderr)
        return _BAD_INPUT
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        config = AgentConfig.model_validate_json(Path(arguments[0]).read_text())
        agent = Agent(config, sys.stdin.fileno(), sys.stdout.fileno())
    except (OSError, ValueError) as error:
        print(f"agent: {str(error).splitlines()[0]}", file=sys.stderr)
        return _BAD_INPUT
    try:
        agent.run()
    finally:
        agent.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
