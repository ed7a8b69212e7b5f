# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A live network as an object, with running NICs; its methods send messages and change the network.

The prompt's verbs use only this, and so do scripts, which get it from `sfc_testbed.open_network`.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import psutil

from os_helpers.temporary import temporary_folder
from sfc_testbed.hosts.io.namespaces import entered, open_network_namespace
from sfc_testbed.hosts.protocol import Adopt, Signal
from sfc_testbed.place import TEMPORARY
from sfc_testbed.request.arguments import checked_call
from sfc_testbed.request.load_balancing import program_settings_of
from sfc_testbed.request.quantities import read_in_unit
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.scenarios.model.flow import MAX_SIZE_BYTES, Flow
from sfc_testbed.testbed.control_plane.commands import change_commands, settings_commands
from sfc_testbed.testbed.control_plane.rerouting import Rerouting
from sfc_testbed.testbed.errors import RunError, UsageError
from sfc_testbed.testbed.flows.ideal import ideal_fct_ns
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.live.run import LiveNetwork, agents_of, live_network
from sfc_testbed.testbed.live.session import switches as reading
from sfc_testbed.testbed.live.session.captures import Captures
from sfc_testbed.testbed.live.session.control import ControlledSwitch
from sfc_testbed.testbed.live.session.hub import AgentHub, Sight
from sfc_testbed.testbed.live.session.journal import Journal, Message
from sfc_testbed.testbed.live.session.links import links_between, set_link
from sfc_testbed.testbed.live.session.page import SessionPage
from sfc_testbed.testbed.plan.plan import RunPlan, plan_network, plan_run
from sfc_testbed.testbed.plan.suitability import path_change
from sfc_testbed.testbed.program.user_program import declarations_of
from sfc_testbed.testbed.recording.folder import make_folder
from sfc_testbed.testbed.system.cleanup import end_processes
from sfc_testbed.topologies.model import Host, Link, Port, SwitchPort

_TAG = "prompt"
_RUNS, _FOLDER = Path("runs"), "cli"
# Time from the request of a message to its start: both ends get the message meanwhile.
_ASK_MARGIN_NS = 150_000_000
_LONGEST_WAIT_S = 1_000_000


class LiveSession:
    """A live network with its switches and NICs. Times, rates and bytes are in model units."""

    def __init__(self, network: LiveNetwork, request: RunSpec, interrupt: Interrupt, outside: int) -> None:
        """Start the NICs; `request` is the request that the network was started with.

        `outside` is a descriptor of the network namespace from which the network was started.
        """
        self.network = network
        self.plan = network.plan
        self.topology = network.plan.topology
        self.dilation = network.plan.dilation
        self.journal = Journal()
        self.switches = {running.name: ControlledSwitch(running) for running in network.switches}
        self.captures = Captures(network, lambda: self.folder, lambda: self._hub.start_ns)
        self._request = request
        self._next_flow = 1
        self._dead: frozenset[Link] = frozenset()
        self._mended_ns = 0
        self._rerouting = Rerouting(self.topology, self.plan.switch_settings)
        self._rates_gbps: dict[tuple[str, int], float] = {}
        self._random = random.Random(request.seed)
        self._earlier_signals = 0
        """The number of signals that hosts received before the current scheme began."""
        self._hub = self._start_hub(interrupt)
        self._outside = outside
        self.page: SessionPage | None = None
        """The page that shows the network, if `watch` has opened it."""

    def __repr__(self) -> str:
        size = f"hosts: {len(self.topology.hosts)}, switches: {len(self.switches)}"
        return f"<Network {self.topology.name} under {self.scheme}, {size}, dilation: {self.dilation.factor}>"

    @property
    def scheme(self) -> str:
        """The name of the scheme, with the congestion control."""
        return self.plan.config.scheme

    @property
    def now_us(self) -> float:
        """The model time since the NICs started; 0 until then."""
        return self.dilation.model_us(max(0, time.monotonic_ns() - self._hub.start_ns))

    @checked_call
    def restarted_us(self, switch: str) -> float | None:
        """Return the model time at which a switch was started again; None if the NICs are younger than the switch."""
        since_ns = self.switch(switch).started_ns - self._hub.start_ns
        return self.dilation.model_us(since_ns) if since_ns > 0 else None

    @cached_property
    def folder(self) -> Path:
        """The folder for the session's files in the current folder's `runs`; it is created at the first use."""
        return make_folder(_RUNS.absolute(), _FOLDER)

    @checked_call
    def watch(self) -> str:
        """Show the network in a browser until the session ends; return the address of the page, on this machine."""
        if self.page is None:
            with entered(self._outside):
                self.page = SessionPage(self.network)
            self.page.begin(self.plan, self._hub.start_ns, self.journal)
        return self.page.watch.url

    # messages

    @checked_call
    def send(self, src: str, dst: str, size_bytes: int | str) -> Message:
        """Start a message from one host to another; the size may be a text such as "20KB".

        Raises UsageError for an unknown host or an invalid size.
        """
        [message] = self._start([(src, dst, size_bytes, 0)])
        return message

    @checked_call
    def incast(self, dst: str, senders: int, size_bytes: int | str, sync_us: float | str = 0) -> list[Message]:
        """Start a message to `dst` from each of `senders` random other hosts, within a synchronization window.

        The size and the window may be texts such as "20KB" and "5us".
        """
        self.host(dst)
        sync_us = _read("sync_us", sync_us, "us")
        others = [host.name for host in self.topology.hosts_in_plane_of(dst) if host.name != dst]
        if not 1 <= senders <= len(others):
            place = "its plane" if self.topology.planes > 1 else "the network"
            raise UsageError(f"{senders} hosts cannot send to {dst}: {place} has {len(others)} other hosts")
        if not 0 <= sync_us <= 1_000_000:
            raise UsageError("a synchronization window has between 0 and 1000000 us")
        sources = sorted(self._random.sample(others, senders), key=others.index)
        window_ns = sync_us * 1000
        return self._start([(src, dst, size_bytes, round(self._random.uniform(0, window_ns))) for src in sources])

    @checked_call
    def wait(self, messages: Sequence[Message] | None = None, seconds: float = 60) -> bool:
        """Wait up to `seconds` of wall time until these or all messages are done; return whether they are.

        Raises RunError if the NICs have ended.
        """
        if not 0 <= seconds <= _LONGEST_WAIT_S:
            raise UsageError(f"seconds: must be between 0 and {_LONGEST_WAIT_S}, not {seconds:g}")
        are_done = self.journal.wait(self.journal.unfinished() if messages is None else messages, seconds)
        if not are_done and self._hub.failure is not None:
            raise RunError(self._hub.failure)
        return are_done

    def signals_of_scheme(self) -> list[Signal]:
        """Return the signals that hosts have received since the current scheme began."""
        return self.journal.signals_since(self._earlier_signals)[1]

    def look(self) -> Sight:
        """Return the current state of every host."""
        return self._hub.look()

    # switches

    @checked_call
    def switch(self, name: str) -> ControlledSwitch:
        """Return a switch by name. Raises UsageError if there is none."""
        if name not in self.switches:
            raise UsageError(f"unknown switch {name!r}; choose from {', '.join(self.switches)}")
        return self.switches[name]

    @checked_call
    def host(self, name: str) -> Host:
        """Return a host by name. Raises UsageError if there is none."""
        if name not in self.topology.host:
            hosts = self.topology.hosts
            raise UsageError(f"unknown host {name!r}; choose from {hosts[0].name} to {hosts[-1].name}")
        return self.topology.host[name]

    @checked_call
    def node(self, name: str) -> Any:
        """Return a host or switch as Mininet's node: `cmd` and `popen` start applications in its network.

        All switches share one network namespace. Raises UsageError if there is no such node.
        """
        if name not in self.switches:
            self.host(name)
        return self.network.emulation.net.get(name)

    @checked_call
    def port(self, switch: str, word: str | int) -> SwitchPort:
        """Return a port by its number or its neighbour's name. Raises UsageError unless exactly one port matches."""
        self.switch(switch)
        ports = [port for port in self.topology.ports[switch] if str(word) in (str(port.number), port.peer.node)]
        if len(ports) != 1:
            choices = ", ".join(f"{port.number} ({port.peer.node})" for port in self.topology.ports[switch])
            raise UsageError(f"unknown or ambiguous port {word!r} of {switch}; choose from {choices}")
        return ports[0]

    @checked_call
    def start_switch(self, name: str) -> None:
        """Start a switch that was stopped or has ended, with its initial settings and the changes made since."""
        self.switch(name).start_again()

    def _check_all_run(self) -> None:
        for controlled in self.switches.values():
            if not controlled.is_up:
                raise UsageError(f"{controlled.state}: start all switches first, with `switch {controlled.name} start`")

    @checked_call
    def queues(self, switch: str) -> list[reading.QueueDepth]:
        """Return the queues of a switch that hold frames now."""
        return list(reading.queue_depths(self.topology, self.switch(switch)))

    @checked_call
    def cache(self, switch: str) -> reading.PauseCache:
        """Return the current contents of a switch's pause cache."""
        controlled = self.switch(switch)
        zero_ns = self.network.epoch_ns + controlled.clock_lag_ns
        return reading.pause_cache(self.topology, controlled, self.dilation, zero_ns)

    @checked_call
    def paused_ports(self, switch: str) -> list[tuple[SwitchPort, int | None]]:
        """Return the ports of a switch that a switch at the other end pauses now, under PFC or BFC.

        With each port comes the number of its paused flow queues, or None if the whole data class is paused.
        """
        ports = [port for port in self.topology.ports[self.switch(switch).name] if not port.peer_is_host]
        if self.plan.switch_settings.pfc:
            peers = [self.switch(port.peer.node) for port in ports]
            return [
                (port, None)
                for port, peer in zip(ports, peers, strict=True)
                if peer.is_up and reading.pauses_class(peer, port.peer.number)
            ]
        if self.plan.switch_settings.bfc_queues is None:
            return []
        counts = [(port, reading.paused_queues(self.switch(switch), port.number)) for port in ports]
        return [(port, queues) for port, queues in counts if queues]

    @checked_call
    def set_rate(self, switch: str, port: SwitchPort, gbps: float) -> None:
        """Change the rate of a switch port."""
        if not 0 < gbps <= 100_000:
            raise UsageError(f"{gbps:g} Gb/s is not a valid port rate: above 0, at most 100000")
        reading.check_rates_have_codes(self.plan.transport, [gbps])
        reading.set_rate(
            self.topology, self.switch(switch), port, round(gbps * 1e9), self.dilation, self.plan.switch_settings
        )
        self._rates_gbps[switch, port.number] = gbps

    @checked_call
    def set_scheme(self, name: str) -> None:
        """Change the scheme while the network runs; messages under way keep the rules that they began with."""
        self._adopt(self._request_with(scheme=name))

    @checked_call
    def set_load_balancing(self, name: str) -> None:
        """Change the load balancing while the network runs, as `set_scheme` changes the scheme."""
        if program_settings_of(name):
            raise UsageError(f"{name} sets a P4 program: start the network with --load-balancing {name}")
        self._adopt(self._request_with(load_balancing=name))

    def _adopt(self, request: RunSpec) -> None:
        """Change the settings of switches and hosts to those of another request."""
        plan = plan_network(request)
        old, new = self.plan.switch_settings, plan.switch_settings
        program = declarations_of(self.plan.spec.program)
        self._check_all_run()
        reading.check_rates_have_codes(plan.transport, self._rates_gbps.values())
        for controlled in self.switches.values():
            before, after = (
                settings_commands(self.topology, controlled.name, settings, self.dilation) for settings in (old, new)
            )
            for command in change_commands(before, after, program.initial_action):
                controlled.command(command)
            for cell in self._rerouting.cells(controlled.name, new):
                controlled.command(cell)
        self._hub.tell(Adopt(plan.transport.as_dict()))
        self.plan = plan
        self._earlier_signals, _ = self.journal.signals_since(0)
        for (switch, number), gbps in self._rates_gbps.items():
            self.set_rate(switch, self.port(switch, str(number)), gbps)

    # links

    @checked_call
    def set_link(self, a: str, b: str, *, up: bool) -> int:
        """Take all links between two nodes down or up, and route around dead links; return the number of links."""
        links = links_between(self.topology, a, b)
        ends = [end for link in links for end in (link.a, link.b) if end.node in self.switches]
        if not up:
            self._tell_ports(ends, up=False)  # first: softswitch counts losses, BMv2 closes ports
        for link in links:
            set_link(self.network.emulation, link, up=up)
        if up:
            self._tell_ports(ends, up=True)
            self._mended_ns = time.monotonic_ns()
        self._dead = self._dead.difference(links) if up else self._dead.union(links)
        for name, changes in self._rerouting.around(self._dead).items():
            for change in changes:
                self.switches[name].change(change)
        return len(links)

    @property
    def counts_dead_links(self) -> bool:
        """Whether packets lost on links that are down are counted; BMv2's ports do not count them."""
        return self.plan.config.switch == "soft"

    @property
    def had_dead_links(self) -> bool:
        """Whether a link is down, or was down since the NICs started."""
        return bool(self._dead) or self._mended_ns > self._hub.start_ns

    def _tell_ports(self, ends: Sequence[Port], *, up: bool) -> None:
        for end in ends:
            self.switches[end.node].change(f"port_link {end.number} {'up' if up else 'down'}")

    # planning a scenario, and ending the session

    @checked_call
    def plan_scenario(self, name: str, scale: str, settings: Sequence[str]) -> RunPlan:
        """Return a scenario's plan on this network with its settings. Raises UsageError if that is impossible."""
        request = self._request_with()
        merged = {**request.settings, **parse_settings(settings)}
        plan = plan_run(replace(request, scenario=name, scale=scale, settings=merged))
        if plan.topology != self.topology:
            raise UsageError("a scenario at the prompt uses the running network: topology settings are not allowed")
        session_fields = ("physics", "switch_settings", "transport_settings", "thresholds_bytes")
        updates = {field: getattr(self.plan.config, field) for field in session_fields}
        config = replace(plan.config, **updates)
        if plan.faults and self._dead:
            raise UsageError("a scenario with faults needs all links up: use `link NODE PEER up` first")
        return replace(self.plan, config=config, flows=plan.flows, faults=plan.faults)

    @contextmanager
    def emptied(self) -> Iterator[None]:
        """Restart the switches with their changes and stop the NICs for the body; restart both after the body."""
        self._check_all_run()
        self._hub.stop()
        try:
            self._restart_switches()
            yield
        finally:
            self._restart_switches()
            self.journal.begin_anew()
            self._hub = self._start_hub(Interrupt())
            if self.page is not None:
                self.page.begin(self.plan, self._hub.start_ns, self.journal)

    def _restart_switches(self) -> None:
        for controlled in self.switches.values():
            if controlled.is_up:
                controlled.halt()
        for name in self.switches:
            self.start_switch(name)

    def close(self, tell: Callable[[str], None]) -> None:
        """End the programs in the hosts, the captures and the NICs; `tell` receives lines about the captures."""
        try:
            self.captures.close(tell)
        finally:
            end_processes(_programs_of(self.network))
            self._hub.stop()
            if self.page is not None:
                self.page.close(tell)

    def _start_hub(self, interrupt: Interrupt) -> AgentHub:
        hub = AgentHub(agents_of(self.network, self.plan, programs=True), self.journal)
        try:
            hub.start(interrupt)
        except BaseException:
            hub.stop()
            raise
        return hub

    def _start(self, asked: Sequence[tuple[str, str, int | str, int]]) -> list[Message]:
        """Start messages, each given as source, destination, size, and delay in ns."""
        requests = [
            (src, dst, round(_read("size_bytes", size, "bytes")), delay_ns) for src, dst, size, delay_ns in asked
        ]
        for src, dst, size_bytes, _ in requests:
            if self.host(src) == self.host(dst):
                raise UsageError(f"{src} cannot send to itself")
            if not 1 <= size_bytes <= MAX_SIZE_BYTES:
                raise UsageError(f"a message has between 1 and {MAX_SIZE_BYTES} bytes")
        begin_ns = time.monotonic_ns() + _ASK_MARGIN_NS - self._hub.start_ns
        messages = []
        nics = self.plan.transport
        change = path_change(self.plan.switch_settings, nics)
        for src, dst, size_bytes, delay_ns in requests:
            number = self._next_flow
            self._next_flow += 1
            start_ns = round(self.dilation.model_ns(begin_ns)) + delay_ns
            flow = Flow(src, dst, size_bytes, start_ns, _TAG, number, number, number)
            ideal_ns = ideal_fct_ns(
                self.topology, src, dst, size_bytes, nics.payload_bytes, nic_bps=nics.line_rate_bps, change=change
            )
            messages.append(Message(flow, ideal_ns / 1000))
        self.journal.add(messages)
        self._hub.add([message.flow for message in messages], {host.name: host.ip for host in self.topology.hosts})
        return messages

    def _request_with(self, *, scheme: str | None = None, load_balancing: str | None = None) -> RunSpec:
        """Return the request of this network with another scheme or load balancing; None: the present one."""
        return replace(
            self._request,
            scheme=scheme or self.scheme,
            load_balancing=load_balancing or self.plan.spec.load_balancing,
            switch=self.plan.config.switch,
            topology=self.topology.name,
            dilation=self.dilation.factor,
        )


Network = LiveSession
"""The public name of a session."""


def _read(name: str, value: str | float, unit: str) -> float:
    """Return a number of bytes or us. UsageError if it is a text without a valid number."""
    try:
        return read_in_unit(value, unit)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from error


def _programs_of(network: LiveNetwork) -> list[psutil.Process]:
    """Return the processes in the hosts' network namespaces, except for the hosts' own shells."""
    shells = set(network.emulation.host_pids().values())
    spaces = {_namespace(pid) for pid in shells} - {None}
    return [
        process for process in psutil.process_iter() if process.pid not in shells and _namespace(process.pid) in spaces
    ]


def _namespace(pid: int) -> str | None:
    with suppress(OSError):
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    return None


@contextmanager
def open_session(
    request: RunSpec, interrupt: Interrupt | None = None, tell: Callable[[str], None] = lambda line: None
) -> Iterator[LiveSession]:
    """Provide the network of a request with running NICs, and remove it at the end; the request's scenario is ignored.

    `tell` receives lines about captures that end with the session. Raises KeyboardInterrupt if it is interrupted before
    the network is up.
    """
    plan = plan_network(request)
    interrupt = interrupt or Interrupt()
    with (
        temporary_folder(TEMPORARY) as logs,
        os.fdopen(open_network_namespace()) as outside,
        live_network(plan, logs, interrupt) as network,
    ):
        session = LiveSession(network, request, interrupt, outside.fileno())
        try:
            yield session
        finally:
            session.close(tell)
