# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Verbs that change the network: rates, schemes, switches, links, captures and other control commands."""

from __future__ import annotations

from collections.abc import Sequence

from sfc_testbed.request.load_balancing import LOAD_BALANCINGS
from sfc_testbed.request.schemes import RATE_CONTROLS, SCHEMES
from sfc_testbed.testbed.live.session.links import is_up
from sfc_testbed.testbed.live.session.session import LiveSession
from sfc_testbed.testbed.prompt.terminal import Terminal
from sfc_testbed.testbed.prompt.verb import Verb
from sfc_testbed.testbed.prompt.words import VerbError, gigabits
from sfc_testbed.topologies.model import Port


def set_rate(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    port = session.port(words[0], words[1])
    gbps = gigabits(words[2])
    session.set_rate(words[0], port, gbps)
    wall_bps = session.dilation.wall_bps(gbps * 1e9)
    return f"{words[0]} port {port.number} to {port.peer.node}: {gbps:g} Gb/s ({wall_bps} bit/s on the wall clock)"


def scheme(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    if not words:
        names = ", ".join(SCHEMES)
        suffixes = ", ".join(f"+{name}" for name in RATE_CONTROLS)
        return f"{session.scheme}; available: {names}, each with {suffixes}"
    before = session.scheme
    session.set_scheme(words[0])
    return f"{before} -> {session.scheme}; messages under way keep the rules that they began with"


def load_balancing(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    before = session.plan.switch_settings.load_balancing
    if not words:
        return f"{session.plan.spec.load_balancing or before}; available: {', '.join(LOAD_BALANCINGS)}"
    session.set_load_balancing(words[0])
    return f"{words[0]}; switches choose ports by {session.plan.switch_settings.load_balancing}, before by {before}"


def p4(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    return session.switch(words[0]).command(" ".join(words[1:]))


def dpctl(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    """Execute a control command on every switch: Mininet's verb for OpenFlow switches, adapted to P4 switches."""
    if words[0] in ("dump-flows", "dump-ports", "show", "add-flow", "del-flows"):
        raise VerbError(f"{words[0]!r} is for OpenFlow switches; for P4: `table_dump SWITCH`, `p4 SWITCH help`")
    line = " ".join(words)
    switches = session.switches.items()
    return "\n".join(f"*** {name}\n{controlled.command(line)}".rstrip() for name, controlled in switches)


def switch(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    name, action = words
    controlled = session.switch(name)
    if action == "stop" or (action == "reboot" and controlled.is_up):
        controlled.halt()
    if action == "stop":
        return f"{name} is stopped; the packets that it held are lost. {_without(session, name)}"
    session.start_switch(name)
    return f"{name} forwards"


def _without(session: LiveSession, switch: str) -> str:
    """Return what a stopped switch means for the network, and how to route around it."""
    peers = between(session, switch)
    hosts = [peer for peer in peers if peer in session.topology.host]
    if hosts:
        return f"Its hosts are cut off until `switch {switch} start`: {', '.join(hosts)}"
    downs = ", ".join(f"`link {peer} {switch} down`" for peer in peers)
    return f"No route changes, so packets are still sent to it and lost; to route around it: {downs}"


def reboot_all(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    return "\n".join(switch(session, terminal, [name, "reboot"]) for name in session.switches)


def link(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    a, b, state = words
    count = session.set_link(a, b, up=state == "up")
    return f"{a} - {b}: {state}" + (f" ({count} links)" if count > 1 else "")


def links(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    emulation = session.network.emulation
    lines = []
    for link_data in session.topology.links:
        ends = (link_data.a, link_data.b)
        states = " ".join("OK" if is_up(emulation, end) else "down" for end in ends)
        names = "<->".join(f"{end.node}-eth{end.number}" for end in ends)
        lines.append(f"{names} ({states}) {link_data.rate_bps / 1e9:g} Gb/s, {link_data.delay_ns / 1000:g} us")
    return "\n".join(lines)


def pcap(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    node = words[0]
    if node in session.topology.host:
        if len(words) != 2:
            raise VerbError(f"usage: pcap {node} on|off")
        wire = session.topology.host_link[node]
        end = wire.a if wire.a.node == node else wire.b
    else:
        if len(words) != 3:
            raise VerbError(f"usage: pcap {node} PORT on|off")
        end = Port(node, session.port(node, words[1]).number)
    if words[-1] == "on":
        return f"capturing to {session.captures.start(end)}"
    return "\n".join(session.captures.stop(end))


def between(session: LiveSession, a: str) -> list[str]:
    """Return the names of the nodes that are linked with a node, sorted."""
    linked = [link_data for link_data in session.topology.links if a in (link_data.a.node, link_data.b.node)]
    return sorted({end.node for link_data in linked for end in (link_data.a, link_data.b)} - {a})


_START_SUMMARY = "starts a switch that was stopped or has ended, with the changes made at the prompt"
VERBS = {
    "set_rate": Verb(("SWITCH PORT GBPS",), "changes how fast a port sends (model Gb/s)", set_rate),
    "scheme": Verb(("[SCHEME]",), "shows the scheme, or changes it on switches and hosts while they run", scheme),
    "load_balancing": Verb(
        ("[NAME]",), "shows the load balancing, or changes it on switches and hosts while they run", load_balancing
    ),
    "p4": Verb(("SWITCH COMMAND...",), "executes a control command of simple_switch_CLI; `help` lists them", p4),
    "dpctl": Verb(("COMMAND...",), "executes a control command on every switch", dpctl),
    "switch": Verb(("SWITCH start|stop|reboot",), "stops or starts a switch; changes to it are kept", switch),
    "p4switch_stop": Verb(("SWITCH",), "stops a switch", lambda s, t, w: switch(s, t, [w[0], "stop"])),
    "p4switch_start": Verb(("SWITCH",), _START_SUMMARY, lambda s, t, w: switch(s, t, [w[0], "start"])),
    "p4switch_reboot": Verb(("SWITCH",), "stops and starts a switch", lambda s, t, w: switch(s, t, [w[0], "reboot"])),
    "p4switches_reboot": Verb(("",), "stops and starts every switch", reboot_all),
    "link": Verb(
        ("NODE PEER up|down",), "takes the links of two nodes down or up; switches route around dead links", link
    ),
    "links": Verb(("",), "shows all links: state, rate and delay", links),
    "pcap": Verb(("HOST on|off", "SWITCH PORT on|off"), "captures an interface for Wireshark, in runs/", pcap),
}
