# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A live network as an object: it is up, its NICs run, and what is wanted of it is said by calls.

`open_network` starts one by name, in the way of Mininet's own scripts; the prompt's verbs and `examples/` use no more.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from hosts.protocol import Adopt
from scenarios.model.flow import MAX_SIZE_BYTES, Flow
from testbed.dilation.choice import with_dilation
from testbed.errors import RunError, UsageError
from testbed.execution import capabilities
from testbed.execution.execute import make_folder
from testbed.flows.ideal import ideal_fct_ns
from testbed.interrupt import Interrupt
from testbed.live.agents import start_agents
from testbed.live.run import LiveNetwork, live_network, switch_clocks
from testbed.live.session import switches as reading
from testbed.live.session.captures import Captures
from testbed.live.session.control import ControlledSwitch
from testbed.live.session.hub import AgentHub, Sight
from testbed.live.session.journal import Journal, Message
from testbed.live.session.links import links_between, set_end, set_link
from testbed.live.session.processes import end_programs
from testbed.plan.plan import RunPlan, plan_network, plan_run
from testbed.plan.request import NETWORK_DILATION, RunRequest
from testbed.program.given import program_given
from topologies.commands import change_commands
from topologies.model import Host, Link, Port, SwitchPort
from topologies.physics import passes_ns
from topologies.rerouting import Rerouting
from topologies.routes import Paths

_TAG = "prompt"
_RUNS, _FOLDER = Path("runs"), "cli"
# From asking for a message to its start: both ends have been told by then.
_ASK_MARGIN_NS = 150_000_000


class LiveSession:
    """One live network with its switches and NICs. Times, rates and bytes are model units."""

    def __init__(self, network: LiveNetwork, request: RunRequest, interrupt: Interrupt) -> None:
        """Starts the NICs; `request` is what the network was asked for with."""
        self.network = network
        self.plan = network.plan
        self.topology = network.plan.topology
        self.dilation = network.plan.dilation
        self.journal = Journal()
        self.switches = {each.name: ControlledSwitch(each) for each in network.switches}
        self.captures = Captures(network, lambda: self.folder, lambda: self._hub.start_ns)
        self._request = request
        self._paths = Paths(self.topology)
        self._next_flow = 1
        self._dead: frozenset[Link] = frozenset()
        self._mended_ns = 0
        self._rerouting = Rerouting(self.topology)
        self._rates_gbps: dict[tuple[str, int], float] = {}
        self._random = random.Random(request.seed)
        self._hub = self._start_hub(interrupt)

    @property
    def scheme(self) -> str:
        """Its name, with the congestion control."""
        return self.plan.config.scheme

    @property
    def now_us(self) -> float:
        """Model time since the NICs started, 0 while they are about to."""
        return self.dilation.model_us(max(0, time.monotonic_ns() - self._hub.start_ns))

    def restarted_us(self, switch: str) -> float | None:
        """Return the model time at which a switch was started again; None if the switch is older than the NICs."""
        since_ns = self.switch(switch).started_ns - self._hub.start_ns
        return self.dilation.model_us(since_ns) if since_ns > 0 else None

    @cached_property
    def folder(self) -> Path:
        """What the session leaves behind: a new folder in the current folder's `runs`, made when it is asked for."""
        return make_folder(_RUNS.absolute(), _FOLDER)

    # messages

    def send(self, src: str, dst: str, size_bytes: int) -> Message:
        """Starts a message from one host to another. UsageError for a host that is not there or an odd size."""
        [message] = self._start([(src, dst, size_bytes, 0)])
        return message

    def incast(self, dst: str, senders: int, size_bytes: int, sync_us: float = 0) -> list[Message]:
        """Starts a message from each of so many other hosts within a synchronization window."""
        self.host(dst)
        others = [host.name for host in self.topology.hosts if host.name != dst]
        if not 1 <= senders <= len(others):
            raise UsageError(f"{senders} hosts cannot send to {dst}: there are {len(others)} others")
        if not 0 <= sync_us <= 1_000_000:
            raise UsageError("a synchronization window has between 0 and 1000000 us")
        chosen = sorted(self._random.sample(others, senders), key=others.index)
        window_ns = sync_us * 1000
        return self._start([(src, dst, size_bytes, round(self._random.uniform(0, window_ns))) for src in chosen])

    def wait(self, messages: Sequence[Message] | None = None, seconds: float = 60) -> bool:
        """Waits (wall time) until these messages, or all under way, are done; whether so. RunError without NICs."""
        are_done = self.journal.wait(self.journal.unfinished() if messages is None else messages, seconds)
        if not are_done and self._hub.failure is not None:
            raise RunError(self._hub.failure)
        return are_done

    def look(self) -> Sight:
        """What every host has in hand now."""
        return self._hub.look()

    # switches

    def switch(self, name: str) -> ControlledSwitch:
        """By name. UsageError when there is none."""
        if name not in self.switches:
            raise UsageError(f"no switch {name!r}; there are {', '.join(self.switches)}")
        return self.switches[name]

    def host(self, name: str) -> Host:
        """By name. UsageError when there is none."""
        if name not in self.topology.host:
            hosts = self.topology.hosts
            raise UsageError(f"no host {name!r}; there are {hosts[0].name} to {hosts[-1].name}")
        return self.topology.host[name]

    def port(self, switch: str, word: str) -> SwitchPort:
        """A port by its number or by the node that it leads to."""
        self.switch(switch)
        found = [port for port in self.topology.ports[switch] if word in (str(port.number), port.peer.node)]
        if len(found) != 1:
            known = ", ".join(f"{port.number} ({port.peer.node})" for port in self.topology.ports[switch])
            raise UsageError(f"no single port {word!r} of {switch}; there are {known}")
        return found[0]

    def start_switch(self, name: str) -> None:
        """Start a switch that was stopped or has ended: set up as at the beginning, then changed as it had been.

        BMv2 opens no interface that is down: its ends of broken links are up while it starts.
        """
        switch = self.switch(name)
        switch.check_down()
        ends = [end for link in self._dead for end in (link.a, link.b) if end.node == name]
        try:
            for end in ends:
                set_end(self.network.emulation, end, up=True)
            switch.start_again()
        finally:
            for end in ends:
                set_end(self.network.emulation, end, up=False)

    def _check_all_run(self) -> None:
        for each in self.switches.values():
            if not each.is_up:
                raise UsageError(f"{each.state}: start all switches first, with `switch {each.name} start`")

    def queues(self, switch: str) -> list[reading.QueueDepth]:
        """Queues of a switch that hold something now."""
        return list(reading.queue_depths(self.topology, self.switch(switch)))

    def cache(self, switch: str) -> reading.PauseCache:
        """What a switch remembers of pauses now."""
        controlled = self.switch(switch)
        zero_ns = self.network.epoch_ns + controlled.clock_lag_ns
        return reading.pause_cache(self.topology, controlled, self.dilation, zero_ns)

    def set_rate(self, switch: str, port: SwitchPort, gbps: float) -> None:
        """Changes how fast a port sends."""
        if not 0 < gbps <= 100_000:
            raise UsageError(f"{gbps:g} Gb/s is no rate of a port")
        reading.set_rate(self.switch(switch), port, self.dilation.wall_bps(gbps * 1e9))
        self._rates_gbps[switch, port.number] = gbps

    def set_scheme(self, name: str) -> None:
        """Changes scheme while everything runs: messages under way end by the rules that they began with."""
        plan = plan_network(self._asked_with(scheme=name))
        old, new = self.plan.switch_settings, plan.switch_settings
        self._check_all_run()
        for each in self.switches.values():
            for line in change_commands(self.topology, each.name, old, new, self.dilation):
                each.command(line)
        self._hub.tell(Adopt(plan.transport.as_dict()))
        self.plan = plan
        for (switch, number), gbps in self._rates_gbps.items():
            self.set_rate(switch, self.port(switch, str(number)), gbps)

    # links

    def set_link(self, a: str, b: str, *, up: bool) -> int:
        """Breaks or mends all links of two nodes; switches route around dead ones. How many links there are."""
        found = links_between(self.topology, a, b)
        ends = [end for link in found for end in (link.a, link.b) if end.node in self.switches]
        if not up:
            self._tell_ports(
                ends, up=False
            )  # first, so that what the link loses is counted there and not in the kernel
        for link in found:
            set_link(self.network.emulation, link, up=up)
        if up:
            self._tell_ports(ends, up=True)
            self._mended_ns = time.monotonic_ns()
        self._dead = self._dead.difference(found) if up else self._dead.union(found)
        for name, lines in self._rerouting.around(self._dead).items():
            for line in lines:
                self.switches[name].change(line)
        return len(found)

    @property
    def counts_dead_links(self) -> bool:
        """Whether what links lose while they are down is counted: BMv2's ports know nothing of it."""
        return self.plan.config.switch == "soft"

    @property
    def had_dead_links(self) -> bool:
        """Whether a link is down, or was down since the NICs started."""
        return bool(self._dead) or self._mended_ns > self._hub.start_ns

    def _tell_ports(self, ends: Sequence[Port], *, up: bool) -> None:
        if self.counts_dead_links:
            for end in ends:
                self.switches[end.node].change(f"port_link {end.number} {'up' if up else 'down'}")

    # its life

    def plan_scenario(self, name: str, scale: str, settings: Sequence[str]) -> RunPlan:
        """A scenario's flows with this network and its settings. UsageError when it cannot be."""
        asked = self._asked_with(scheme=self.scheme)
        words = (*asked.settings, *settings)
        found = with_dilation(plan_run(replace(asked, scenario=name, scale=scale, settings=words)))
        if found.topology != self.topology:
            raise UsageError("a scenario at the prompt runs on this network: no topology settings")
        own = ("physics", "switch_settings", "transport_settings", "thresholds_bytes")
        config = found.config.model_copy(update={each: getattr(self.plan.config, each) for each in own})
        if found.faults and self._dead:
            raise UsageError("a scenario with faults begins with all links up: mend those that are down first")
        return replace(self.plan, config=config, flows=found.flows, faults=found.faults)

    @contextmanager
    def emptied(self) -> Iterator[None]:
        """Switches begin anew, as changed so far, and NICs give way to the body's; both begin anew after it."""
        self._check_all_run()
        self._hub.stop()
        try:
            self._restart_switches()
            yield
        finally:
            self._restart_switches()
            self.journal.begin_anew()
            self._hub = self._start_hub(Interrupt())

    def _restart_switches(self) -> None:
        for each in self.switches.values():
            if each.is_up:
                each.halt()
        for name in self.switches:
            self.start_switch(name)

    def close(self, tell: Callable[[str], None]) -> None:
        """Ends what was started in the hosts, captures and NICs; `tell` hears what became of captures."""
        try:
            self.captures.close(tell)
        finally:
            end_programs(self.network)
            self._hub.stop()

    def _start_hub(self, interrupt: Interrupt) -> AgentHub:
        network = self.network
        agents = start_agents(
            self.plan,
            network.run_id,
            network.logs,
            pids={host.name: network.emulation.host_pid(host.name) for host in self.topology.hosts},
            switches=switch_clocks(network),
            epoch_ns=network.epoch_ns,
            programs=True,
        )
        hub = AgentHub(agents, self.journal)
        try:
            hub.start(interrupt)
        except BaseException:
            hub.stop()
            raise
        return hub

    def _start(self, wanted: Sequence[tuple[str, str, int, int]]) -> list[Message]:
        """Messages from, to, of so many bytes, so many ns after the earliest."""
        for src, dst, size_bytes, _ in wanted:
            if self.host(src) == self.host(dst):
                raise UsageError(f"{src} cannot send to itself")
            if not 1 <= size_bytes <= MAX_SIZE_BYTES:
                raise UsageError(f"a message has between 1 and {MAX_SIZE_BYTES} bytes")
        begin_ns = time.monotonic_ns() + _ASK_MARGIN_NS - self._hub.start_ns
        messages = []
        nics = self.plan.transport
        for src, dst, size_bytes, later_ns in wanted:
            number = self._next_flow
            self._next_flow += 1
            start_ns = round(self.dilation.model_ns(begin_ns)) + later_ns
            flow = Flow(src, dst, size_bytes, start_ns, _TAG, number, number, number)
            path = self._paths.between(src, dst)
            switches_ns = passes_ns(self.topology, path)
            ideal_ns = ideal_fct_ns(path, size_bytes, nics.payload_bytes, switches_ns, nic_bps=nics.line_rate_bps)
            messages.append(Message(flow, ideal_ns / 1000))
        self.journal.add(messages)
        self._hub.add([each.flow for each in messages], {host.name: host.ip for host in self.topology.hosts})
        return messages

    def _asked_with(self, *, scheme: str) -> RunRequest:
        return replace(
            self._request,
            scheme=scheme,
            switch=self.plan.config.switch,
            topology=self.topology.name,
            dilation=self.dilation.factor,
        )


@contextmanager
def open_session(
    request: RunRequest, interrupt: Interrupt | None = None, tell: Callable[[str], None] = lambda line: None
) -> Iterator[LiveSession]:
    """The network of a request (its scenario does not count), up and with its NICs running; gone at the end.

    `tell` hears what became of captures that end with it. KeyboardInterrupt if it is interrupted before it is up.
    """
    plan = plan_network(request)
    asked = interrupt or Interrupt()
    with tempfile.TemporaryDirectory(prefix="sfc-testbed-") as logs, live_network(plan, Path(logs), asked) as network:
        session = LiveSession(network, request, asked)
        try:
            yield session
        finally:
            session.close(tell)


@contextmanager
def open_network(
    topology: str = "clos",
    *,
    scheme: str = "sfc",
    switch: str = "auto",
    dilation: int = NETWORK_DILATION,
    settings: Sequence[str] = (),
    hosts: str | None = None,
    p4: str | None = None,
) -> Iterator[LiveSession]:
    """A network by name, in the words of `runner.py cli`; `settings` are of the form "topology.tors=4", `p4` is
    a file.

    With `hosts` "docker:IMAGE" its hosts are containers. UsageError where this machine or user cannot have a network.
    """
    request = RunRequest(
        "none",
        scheme,
        switch,
        topology=topology,
        dilation=dilation,
        settings=tuple(settings),
        hosts=hosts,
        program=program_given(p4),
    )
    plan = plan_network(request)
    capabilities.require("real", plan.config.switch, plan.mtu_bytes, hosts, has_virtual=False)
    with open_session(request) as session:
        yield session
