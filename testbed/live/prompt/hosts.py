# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Verbs of Mininet's that try the network with programs: ping and iperf, none of which can hang."""

from __future__ import annotations

import json
import math
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from testbed.errors import RunError
from testbed.live.containers.container import HostContainer
from testbed.live.prompt.terminal import Terminal
from testbed.live.prompt.verb import Verb
from testbed.live.prompt.words import VerbError, wall_bps
from testbed.live.session.session import LiveSession
from testbed.system.child import Child
from testbed.system.namespace import in_network_of
from topologies.model import Host

_PINGS_AT_ONCE = 8
_PATIENCE_RTTS = 20
_ROUND_TRIP = re.compile(r"= ([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+) ms")
_IPERF_PORT = 5001
_IPERF_SECONDS = 5
_IPERF_MARGIN_S = 15.0
_READY_SECONDS = 20.0
_DEFAULT_UDP_GBPS = 1.0


@dataclass(frozen=True)
class _Ping:
    src: Host
    dst: Host
    round_trip: str | None
    """min/avg/max/mdev in wall ms; None: no answer."""


def pingall(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    return _ping_among(session, terminal, session.topology.hosts, words)


def pingpair(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    return _ping_among(session, terminal, session.topology.hosts[:2], words)


def pingset(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    return _ping_among(session, terminal, [session.host(word) for word in words], ())


def pingallfull(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    return _ping_full(session, terminal, session.topology.hosts)


def pingpairfull(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    return _ping_full(session, terminal, session.topology.hosts[:2])


def iperf(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    client, server = _pair(session, words)
    terminal.say(f"*** Iperf: testing TCP bandwidth between {client.name} and {server.name}")
    found, _ = _iperf(session, client, server, ())
    received = f"{server.name} received {_rate(session, found['received_bps'])} of TCP payload"
    waiting = _on_the_way(found["sent_bytes"] - found["received_bytes"])
    return f"*** Results: {received}, {found['retransmits']} retransmits{waiting}"


def iperfudp(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    asked_bps = wall_bps(words[0], session.dilation) if words else session.dilation.wall_bps(_DEFAULT_UDP_GBPS * 1e9)
    client, server = _pair(session, words[1:])
    terminal.say(f"*** Iperf: testing UDP bandwidth between {client.name} and {server.name}")
    sent, arrived = _iperf(session, client, server, (str(asked_bps),))
    received_bps = 8 * arrived["received_bytes"] / arrived["seconds"] if arrived["seconds"] else 0.0
    received = f"{server.name} received {_rate(session, received_bps)} of UDP payload"
    lost_bytes = round(sent["sent_bytes"] * sent["lost_percent"] / 100)
    waiting = _on_the_way(sent["sent_bytes"] - arrived["received_bytes"] - lost_bytes)
    asked = f"asked for {_rate(session, asked_bps)}"
    return f"*** Results: {asked}, {received}, {sent['lost_percent']:.3g} % lost{waiting}"


def xterm(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    """A terminal in a window needs a display and a program."""
    net = session.network.emulation.net
    for word in words:
        if word not in net:
            raise VerbError(f"no node {word!r} in this network")
        if isinstance(shell := net.get(word).shell, HostContainer):
            other = f"in another terminal `sudo docker exec -it {shell.engines_name} sh` is a shell of it"
            raise VerbError(f"{word} is a container; {other}")
    elsewhere = f"in another terminal `sudo mnexec -a {net.get(words[0]).pid} bash` is a shell of {words[0]}"
    if "DISPLAY" not in os.environ:
        raise VerbError(f"there is no display (DISPLAY is not set); {elsewhere}")
    program = shutil.which("xterm") or shutil.which("x-terminal-emulator")
    if program is None:
        raise VerbError(f"xterm is not installed; {elsewhere}")
    for word in words:
        subprocess.Popen(["mnexec", "-a", str(net.get(word).pid), program, "-title", word], start_new_session=True)
    return f"a terminal of {', '.join(words)} opens"


def x11(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    """Mininet's tunnel of a node's display to the machine's."""
    if "DISPLAY" not in os.environ:
        raise VerbError("there is no display to tunnel to (DISPLAY is not set)")
    raise VerbError(f"no tunnel is needed: `{words[0]} COMMAND` shows its windows on the machine's display")


def _ping(session: LiveSession, src: Host, dst: Host, patience_s: int) -> _Ping:
    pid = session.network.emulation.host_pid(src.name)
    words = in_network_of(pid, "ping", "-c", "1", "-W", str(patience_s), str(dst.ip))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = _ROUND_TRIP.search(done.stdout)
    return _Ping(src, dst, "/".join(found.groups()) if done.returncode == 0 and found else None)


def _pings(session: LiveSession, hosts: Sequence[Host], patience_s: int) -> list[_Ping]:
    if shutil.which("ping") is None:
        raise VerbError("ping is not installed: Debian has it in iputils-ping")
    pairs = [(src, dst) for src in hosts for dst in hosts if src != dst]
    with ThreadPoolExecutor(_PINGS_AT_ONCE) as pool:
        return list(pool.map(lambda pair: _ping(session, pair[0], pair[1], patience_s), pairs))


def _patience_s(session: LiveSession) -> int:
    rtt_s = session.dilation.wall_ns(session.plan.transport.base_rtt_ns) / 1e9
    return max(1, math.ceil(_PATIENCE_RTTS * rtt_s))


def _ping_among(session: LiveSession, terminal: Terminal, hosts: Sequence[Host], words: Sequence[str]) -> str:
    if words and not words[0].isdecimal():
        raise VerbError(f"{words[0]!r} is not a number of seconds")
    terminal.say("*** Ping: testing ping reachability")
    found = _pings(session, hosts, int(words[0]) if words else _patience_s(session))
    for src in hosts:
        marks = [ping.dst.name if ping.round_trip else "X" for ping in found if ping.src == src]
        terminal.say(f"{src.name} -> {' '.join(marks)}")
    received = sum(ping.round_trip is not None for ping in found)
    lost = 100 * (len(found) - received) // max(1, len(found))
    result = f"*** Results: {lost}% dropped ({received}/{len(found)} received)"
    if received < len(found):
        raise VerbError(result)
    return result


def _ping_full(session: LiveSession, terminal: Terminal, hosts: Sequence[Host]) -> str:
    found = _pings(session, hosts, _patience_s(session))
    for ping in found:
        terminal.say(f" {ping.src.name}->{ping.dst.name}: rtt min/avg/max/mdev {ping.round_trip or 'lost'} ms (wall)")
    received = sum(ping.round_trip is not None for ping in found)
    if received < len(found):
        raise VerbError(f"*** Results: {received}/{len(found)} received")
    return f"*** Results: {received}/{len(found)} received"


def _pair(session: LiveSession, words: Sequence[str]) -> tuple[Host, Host]:
    """As Mininet: the first and the last host unless two are named."""
    if not words:
        return session.topology.hosts[0], session.topology.hosts[-1]
    client, server = (session.host(word) for word in words)
    if client == server:
        raise VerbError("a host does not measure itself")
    return client, server


def _iperf(
    session: LiveSession, client: Host, server: Host, more: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what the client and the server of one test measured."""
    children: list[Child] = []
    try:
        for role, host in (("server", server), ("client", client)):
            pid = session.network.emulation.host_pid(host.name)
            words = in_network_of(pid, sys.executable, "-m", "testbed.live.iperf3_peer", role)
            words += [str(server.ip), str(_IPERF_PORT), str(_IPERF_SECONDS), *(more if role == "client" else ())]
            log = session.network.logs / f"iperf-{role}.log"
            children.append(Child(f"iperf {role}", words, session.network.run_id, log))
            children[-1].wait_for_line("ready", _READY_SECONDS)
        deadline = time.monotonic() + _IPERF_SECONDS + _IPERF_MARGIN_S
        return _answer(children[1], deadline), _answer(children[0], deadline)
    except RunError as error:
        raise VerbError(str(error)) from error
    finally:
        for child in children:
            child.stop()


def _answer(peer: Child, deadline: float) -> dict[str, Any]:
    lines: list[str] = []
    while not any(line.startswith("{") for line in lines):
        has_ended = peer.has_ended
        lines += peer.lines()
        if has_ended and not lines:
            raise VerbError(f"iperf ended without a result: {peer.last_words()}")
        if time.monotonic() > deadline:
            raise VerbError("iperf got no answer: try `pingall`, `links`")
        select.select([peer], [], [], 0.2)
    found: dict[str, Any] = json.loads(next(line for line in lines if line.startswith("{")))
    if found["error"] is not None:
        raise VerbError(f"iperf: {found['error']}")
    return found


def _rate(session: LiveSession, wall_bps: float) -> str:
    return f"{wall_bps * session.dilation.factor / 1e9:.2f} Gb/s ({wall_bps / 1e6:.2f} Mbits/sec on the wall clock)"


def _on_the_way(unreceived_bytes: int) -> str:
    """Return a note about what the client's socket had taken and the server had not received when the time was up."""
    if unreceived_bytes <= 0:
        return ""
    return f"; {unreceived_bytes / 1000:.0f} KB more were on their way when the time was up"


_NEEDS_X = "a terminal of a node in a window; needs a display"
VERBS = {
    "pingall": Verb(("[TIMEOUT]",), "pings between all hosts", pingall),
    "pingpair": Verb(("",), "pings between the first two hosts", pingpair),
    "pingset": Verb(("HOST...",), "pings between some hosts", pingset),
    "pingallfull": Verb(("",), "pings between all hosts, with round trip times", pingallfull),
    "pingpairfull": Verb(("",), "pings between the first two hosts, with round trip times", pingpairfull),
    "iperf": Verb(("", "SRC DST"), "TCP throughput between two hosts, 5 s of wall time", iperf),
    "iperfudp": Verb(
        ("", "GBPS SRC DST"), "UDP throughput and loss at a rate (model Gb/s; 10M: of the wall clock)", iperfudp
    ),
    "xterm": Verb(("NODE...",), _NEEDS_X, xterm),
    "gterm": Verb(("NODE...",), _NEEDS_X, xterm),
    "x": Verb(("NODE [COMMAND...]",), "says how a node's windows are shown", x11),
}
