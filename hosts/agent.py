# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The agent, a process that serves hosts of a live run: ``python -m sfc_testbed.hosts.agent CONFIG.json``.

The agent enters its hosts' network namespaces to open sockets, then serves all their NICs in one loop. It reads the
commands of `hosts.protocol` from stdin and writes events to stdout: first that it is ready, then records as they
happen. On ``stop`` it reports unfinished messages, the statistics of every host and its lateness. The end of stdin and
SIGTERM act like ``stop``.
"""

import gc
import resource
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from ipaddress import IPv4Address
from pathlib import Path
from types import FrameType

from os_helpers.parent import die_with_parent
from sfc_testbed.hosts.agent_config import TAP, AgentConfig, AgentHost
from sfc_testbed.hosts.build import NicBuilder, incoming_message, outgoing_message, plan_stalls
from sfc_testbed.hosts.crash import print_crash
from sfc_testbed.hosts.io.event_loop import EventLoop
from sfc_testbed.hosts.io.late_bins import LateBins, late_bin_ns
from sfc_testbed.hosts.io.lines import LineReader, LineWriter
from sfc_testbed.hosts.io.namespaces import network_namespace
from sfc_testbed.hosts.io.packet_socket import PacketSocket
from sfc_testbed.hosts.io.socket_filter import HOST_FRAMES, NIC_FRAMES, silence_kernel
from sfc_testbed.hosts.io.tap import ReplacedInterface, TapDevice, replace_interface, restore_interface
from sfc_testbed.hosts.io.timer import MonotonicTimer, end_sleeps_on_time, take_real_time_priority
from sfc_testbed.hosts.protocol import (
    Add,
    Adopt,
    AgentEvent,
    AgentLateness,
    HostStatistics,
    Look,
    Looked,
    ProtocolError,
    Quiesce,
    Ready,
    Refused,
    Stop,
    Stopped,
    event_line,
    parse_command,
)
from sfc_testbed.hosts.records import RecordWriter, host_state
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.reports import Event
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.native.late import leave_out_plugins
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.extensions import load
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.wire.dilation import Dilation

_FLUSH_NS = 50_000_000
_FAILED, _BAD_INPUT = 1, 2


class Agent:
    """The hosts of one process, served by one event loop and controlled by JSON lines."""

    def __init__(self, config: AgentConfig, stdin: int, stdout: int) -> None:
        """Open every socket. Raises OSError if a namespace or interface is missing, ValueError for bad settings."""
        self._config = config
        self._dilation = Dilation(config.dilation)
        self._out = LineWriter(stdout)
        self._in = LineReader(stdin)
        self._stdin = stdin
        self._records: RecordWriter | None = None
        self._start_ns = 0
        self._loop = EventLoop(self._on_event, window_ns=self._dilation.wall_ns(config.window_ns))
        self._tick = MonotonicTimer()
        self._nics: dict[str, Nic] = {}
        self._sockets: dict[str, PacketSocket] = {}
        self._resources = ExitStack()
        self._resources.callback(self._loop.close)
        self._resources.callback(self._tick.close)
        settings = TransportSettings.from_dict(config.settings)
        self._builder = NicBuilder(settings, self._dilation, epoch_ns=config.epoch_ns)
        for host in config.hosts:
            self._open(host)
        self._expect(config.flows, config.addresses)

    def run(self) -> None:
        """Serve until a stop command, the end of stdin or SIGTERM, then report."""
        signal.signal(signal.SIGTERM, self._on_terminate)
        self._loop.add_reader(self._stdin, self._on_input)
        self._loop.add_reader(self._tick.fileno(), self._on_tick)
        self._emit(Ready(len(self._nics)))
        self._on_tick()
        _freeze_garbage_collector()
        self._loop.run()
        self._report()

    def close(self) -> None:
        self._resources.close()

    def _open(self, served: AgentHost) -> None:
        with network_namespace(served.pid):
            for silencer in silence_kernel():
                self._resources.callback(silencer.close)
            socket = PacketSocket(served.interface, HOST_FRAMES if self._config.programs else NIC_FRAMES)
        self._resources.callback(socket.close)
        self._nics[served.host.name] = nic = self._builder.build(served.host, served.stalls)
        self._sockets[served.host.name] = socket
        self._loop.add_nic(nic, socket)
        if self._config.programs:
            self._loop.add_programs(socket, self._open_tap(served))

    def _open_tap(self, served: AgentHost) -> TapDevice:
        with network_namespace(served.pid):
            tap = TapDevice(TAP.format(name=served.host.name))
            self._resources.callback(tap.close)
            original = replace_interface(served.interface, tap)
        self._resources.callback(_restore_if_present, served, original)
        return tap

    def _on_input(self) -> None:
        for line in self._in.lines():
            self._handle_line(line)
        if self._in.is_closed:
            self._loop.remove_reader(self._stdin)
            self._loop.stop()

    def _handle_line(self, line: str) -> None:
        try:
            command = parse_command(line)
        except ProtocolError as error:
            self._emit(Refused(str(error)))
            return
        if isinstance(command, Quiesce):
            self._loop.stop_sending()
        elif isinstance(command, Stop):
            self._loop.stop()
        elif isinstance(command, Look):
            self._look(command.number)
        elif isinstance(command, Adopt):
            self._adopt(command)
        elif isinstance(command, Add):
            self._add(command)
        elif self._records is not None:
            self._emit(Refused(f"{line!r} comes a second time"))
        else:
            self._start(command.start_ns)

    def _emit(self, event: AgentEvent) -> None:
        self._out.write(event_line(event))

    def _start(self, start_ns: int) -> None:
        self._records = RecordWriter(self._emit, self._dilation, start_ns, self._config.switches)
        for nic in self._nics.values():
            nic.start(start_ns)
        for served in self._config.hosts:
            nic = self._nics[served.host.name]
            plan_stalls(nic, served.stalls, self._dilation, start_ns)
            self._builder.plan_rates(nic, served.host, served.rates, start_ns)
        self._start_ns = start_ns
        self._loop.late_bins = LateBins(start_ns, late_bin_ns(self._dilation))
        self._send(self._config.flows, self._config.addresses)
        _freeze_garbage_collector()

    def _add(self, added: Add) -> None:
        if self._records is None:
            self._emit(Refused("messages can be added once the run has started"))
            return
        try:
            self._expect(added.flows, added.addresses)
            self._send(added.flows, added.addresses)
        except ValueError as error:
            self._emit(Refused(str(error)))

    def _expect(self, flows: Sequence[Flow], addresses: Mapping[str, IPv4Address]) -> None:
        for flow in flows:
            if flow.dst in self._nics:
                self._nics[flow.dst].expect_message(incoming_message(flow, addresses[flow.src]))
            if flow.src in self._nics:
                self._nics[flow.src].expect_ends(flow.after)

    def _send(self, flows: Sequence[Flow], addresses: Mapping[str, IPv4Address]) -> None:
        for flow in flows:
            if flow.src in self._nics:
                message = outgoing_message(flow, addresses[flow.dst], self._dilation, self._start_ns)
                self._nics[flow.src].send_message(message)
        self._loop.call_soon()

    def _adopt(self, adopted: Adopt) -> None:
        try:
            settings = TransportSettings.from_dict(adopted.settings)
            for nic in self._nics.values():
                nic.adopt(settings, self._dilation)
        except ValueError as error:
            self._emit(Refused(str(error)))

    def _look(self, number: int) -> None:
        for name, nic in self._nics.items():
            self._emit(host_state(self._statistics(name), nic.state(), self._dilation, time.monotonic_ns()))
        self._emit(AgentLateness(self._loop.lateness.summary(), self._loop.spacing.summary()))
        self._emit(Looked(number))
        self._out.flush()

    def _on_event(self, host: str, event: Event) -> None:
        if self._records is not None:
            self._records.write(host, event)

    def _on_tick(self) -> None:
        self._tick.clear()
        self._tick.arm(time.monotonic_ns() + _FLUSH_NS)
        self._emit_late_bins()
        self._out.flush()

    def _emit_late_bins(self, *, is_final: bool = False) -> None:
        if self._records is not None and self._loop.late_bins is not None:
            self._records.write_late_bins(self._config.name, self._loop.late_bins.take(is_final=is_final))

    def _on_terminate(self, number: int, frame: FrameType | None) -> None:
        self._loop.stop()

    def _report(self) -> None:
        self._emit_late_bins(is_final=True)
        for name, nic in self._nics.items():
            if self._records is not None:
                self._records.write_rest(nic)
            self._emit(self._statistics(name))
        self._emit(AgentLateness(self._loop.lateness.summary(), self._loop.spacing.summary()))
        self._emit(Stopped())
        self._out.drain()

    def _statistics(self, host: str) -> HostStatistics:
        socket = self._sockets[host]
        return HostStatistics(
            host, self._nics[host].statistics(), socket.kernel_drops(), socket.send_failures, socket.link_down
        )


def _freeze_garbage_collector() -> None:
    """Exclude all present objects from garbage collection: scanning 100 000 messages would delay frames."""
    gc.collect()
    gc.freeze()


def _restore_if_present(served: AgentHost, original: ReplacedInterface) -> None:
    """Give the host's interface its settings back, unless the host no longer exists."""
    with suppress(OSError), network_namespace(served.pid):
        restore_interface(original)


def main(arguments: Sequence[str]) -> int:
    """Serve hosts until stopped.

    Returns 0 after a complete run, 1 if the run failed, and 2 for bad input, which is reported in one line.
    """
    if len(arguments) != 1:
        print("usage: python -m sfc_testbed.hosts.agent CONFIG.json", file=sys.stderr)
        return _BAD_INPUT
    leave_out_plugins()
    die_with_parent()
    end_sleeps_on_time()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _, hard_limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit, hard_limit))
    try:
        config = AgentConfig.model_validate_json(Path(arguments[0]).read_text())
        load(config.uses)
        agent = Agent(config, sys.stdin.fileno(), sys.stdout.fileno())
        take_real_time_priority()
    except (OSError, ValueError, UsageError) as error:
        print(f"agent: {str(error).splitlines()[0]}", file=sys.stderr)
        return _BAD_INPUT
    try:
        agent.run()
    except Exception as error:
        if print_crash(error):  # the runner reports the last line
            return _FAILED
        if not isinstance(error, OSError):
            raise
        print(f"agent: {error.strerror}", file=sys.stderr)
        return _FAILED
    finally:
        agent.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
