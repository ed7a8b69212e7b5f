# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Verbs that change the network: rates, schemes, switches, links, captures, and any control command."""

from __future__ import annotations

from collections.abc import Sequence

from scenarios.schemes import CONGESTION_SUFFIXES, SCHEMES
from testbed.live.prompt.terminal import Terminal
from testbed.live.prompt.verb import Verb
from testbed.live.prompt.words import VerbError, gigabits
from testbed.live.session.links import is_up, links_between
from testbed.live.session.session import LiveSession
from topologies.model import Port


def set_rate(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    port = session.port(words[0], words[1])
    gbps = gigabits(words[2])
    session.set_rate(words[0], port, gbps)
    wall_bps = session.dilation.wall_bps(gbps * 1e9)
    return f"{words[0]} port {port.number} to {port.peer.node}: {gbps:g} Gb/s ({wall_bps} bit/s on the wall clock)"


def scheme(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    if not words:
        known = ", ".join(SCHEMES)
        return f"{session.scheme}; there are {known}, each with {', '.join(f'+{name}' for name in CONGESTION_SUFFIXES)}"
    before = session.scheme
    session.set_scheme(words[0])
    return f"{before} -> {session.scheme}; messages under way end as they began"


def p4(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    return session.switch(words[0]).command(" ".join(words[1:]))


def dpctl(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    """Mininet's verb for OpenFlow switches, on P4 switches."""
    if words[0] in ("dump-flows", "dump-ports", "show", "add-flow", "del-flows"):
        raise VerbError(f"P4 switches know no {words[0]!r}: try `table_dump SWITCH`, `p4 SWITCH help`")
    line = " ".join(words)
    return "\n".join(f"*** {name}\n{each.command(line)}".rstrip() for name, each in session.switches.items())


def switch(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    name, what = words
    each = session.switch(name)
    if what == "stop" or (what == "reboot" and each.is_up):
        each.halt()
    if what == "stop":
        return f"{name} is stopped, what it held is lost"
    session.start_switch(name)
    return f"{name} forwards"


def reboot_all(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    return "\n".join(switch(session, terminal, [name, "reboot"]) for name in session.switches)


def link(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    a, b, state = words
    count = session.set_link(a, b, up=state == "up")
    return f"{a} - {b}: {state}" + (f" ({count} links)" if count > 1 else "")


def links(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    emulation = session.network.emulation
    lines = []
    for each in session.topology.links:
        states = ["OK" if is_up(emulation, end) else "down" for end in (each.a, each.b)]
        ends = f"{_end(session, each.a)}<->{_end(session, each.b)}"
        lines.append(f"{ends} ({' '.join(states)}) {each.rate_bps / 1e9:g} Gb/s, {each.delay_ns / 1000:g} us")
    return "\n".join(lines)


def pcap(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    node = words[0]
    if node in session.topology.host:
        if len(words) != 2:
            raise VerbError(f"usage: pcap {node} on|off")
        end = next(each for each in _ends(session) if each.node == node)
    else:
        if len(words) != 3:
            raise VerbError(f"usage: pcap {node} PORT on|off")
        end = Port(node, session.port(node, words[1]).number)
    if words[-1] == "on":
        return f"capturing to {session.captures.start(end)}"
    return "\n".join(session.captures.stop(end))


def _ends(session: LiveSession) -> list[Port]:
    return [end for each in session.topology.links for end in (each.a, each.b)]


def _end(session: LiveSession, end: Port) -> str:
    return f"{end.node}-eth{end.number}"


def between(session: LiveSession, a: str) -> list[str]:
    """Nodes that a node is linked with."""
    peers = {
        each.b.node if each.a.node == a else each.a.node
        for each in session.topology.links
        if a in (each.a.node, each.b.node)
    }
    return sorted(peer for peer in peers if links_between(session.topology, a, peer))


_SWITCHING = "starts a switch that was stopped or has ended, with what the prompt had changed in it"
VERBS = {
    "set_rate": Verb(("SWITCH PORT GBPS",), "changes how fast a port sends (model Gb/s)", set_rate),
    "scheme": Verb(("[SCHEME]",), "changes switches and hosts over to another scheme while they run", scheme),
    "p4": Verb(("SWITCH COMMAND...",), "any control command, as simple_switch_CLI knows them: try help", p4),
    "dpctl": Verb(("COMMAND...",), "a control command on every switch", dpctl),
    "switch": Verb(("SWITCH start|stop|reboot",), "stops a switch, or starts it as it was set up and changed", switch),
    "p4switch_stop": Verb(("SWITCH",), "stops a switch", lambda s, t, w: switch(s, t, [w[0], "stop"])),
    "p4switch_start": Verb(("SWITCH",), _SWITCHING, lambda s, t, w: switch(s, t, [w[0], "start"])),
    "p4switch_reboot": Verb(("SWITCH",), "both", lambda s, t, w: switch(s, t, [w[0], "reboot"])),
    "p4switches_reboot": Verb(("",), "stops and starts every switch", reboot_all),
    "link": Verb(
        ("NODE PEER up|down",), "breaks or mends the links of two nodes; switches route around dead ones", link
    ),
    "links": Verb(("",), "all links, whether they are up, their rates and delays", links),
    "pcap": Verb(("HOST on|off", "SWITCH PORT on|off"), "captures an interface for Wireshark, in runs/", pcap),
}
