# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Mininet's verbs that test the network with programs: ping and iperf, all with time limits."""

from __future__ import annotations

import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from os_helpers.waiting import readable
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.live.container import HostContainer
from sfc_testbed.testbed.live.session.session import LiveSession
from sfc_testbed.testbed.prompt.terminal import Terminal
from sfc_testbed.testbed.prompt.verb import Verb
from sfc_testbed.testbed.prompt.words import VerbError, wall_bps
from sfc_testbed.testbed.system.child import RunChild
from sfc_testbed.testbed.system.namespace import in_network_of
from sfc_testbed.topologies.model import Host

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
    """The round-trip time as min/avg/max/mdev in wall ms; None without an answer."""


def iperf(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    client, server = _pair(session, words)
    terminal.say(f"*** Iperf: testing TCP bandwidth between {client.name} and {server.name}")
    results, _ = _iperf(session, client, server, ())
    received = f"{server.name} received {_rate(session, results['received_bps'])} of TCP payload"
    in_flight = _in_flight(results["sent_bytes"] - results["received_bytes"])
    return f"*** Results: {received}, {results['retransmits']} retransmits{in_flight}"


def iperfudp(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    default_bps = session.dilation.wall_bps(_DEFAULT_UDP_GBPS * 1e9)
    requested_bps = wall_bps(words[0], session.dilation) if words else default_bps
    client, server = _pair(session, words[1:])
    terminal.say(f"*** Iperf: testing UDP bandwidth between {client.name} and {server.name}")
    sent, arrived = _iperf(session, client, server, (str(requested_bps),))
    received_bps = 8 * arrived["received_bytes"] / arrived["seconds"] if arrived["seconds"] else 0.0
    received = f"{server.name} received {_rate(session, received_bps)} of UDP payload"
    lost_bytes = round(sent["sent_bytes"] * sent["lost_percent"] / 100)
    in_flight = _in_flight(sent["sent_bytes"] - arrived["received_bytes"] - lost_bytes)
    requested = f"asked for {_rate(session, requested_bps)}"
    return f"*** Results: {requested}, {received}, {sent['lost_percent']:.3g} % lost{in_flight}"


def xterm(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    """Open a terminal window for each node; raise VerbError with another way to get a shell if that is impossible."""
    net = session.network.emulation.net
    for word in words:
        if word not in net:
            raise VerbError(f"no node {word!r} in this network")
        if isinstance(shell := net.get(word).shell, HostContainer):
            command = f"sudo docker exec -it {shell.engines_name} sh"
            raise VerbError(f"{word} is a container; open its shell in another terminal with `{command}`")
    hint = f"open a shell of {words[0]} in another terminal with `sudo mnexec -a {net.get(words[0]).pid} bash`"
    if "DISPLAY" not in os.environ:
        raise VerbError(f"there is no display (DISPLAY is not set); {hint}")
    program = shutil.which("xterm") or shutil.which("x-terminal-emulator")
    if program is None:
        raise VerbError(f"xterm is not installed; {hint}")
    for word in words:
        subprocess.Popen(["mnexec", "-a", str(net.get(word).pid), program, "-title", word], start_new_session=True)
    return f"opening a terminal window for {', '.join(words)}"


def x11(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    """Replace Mininet's tunnel from a node's display to the machine's display, which is not needed here."""
    if "DISPLAY" not in os.environ:
        raise VerbError("there is no display to tunnel to (DISPLAY is not set)")
    raise VerbError(f"no tunnel is needed: `{words[0]} COMMAND` opens its windows on this machine's display")


def _ping(session: LiveSession, src: Host, dst: Host, patience_s: int) -> _Ping:
    pid = session.network.emulation.host_pid(src.name)
    words = in_network_of(pid, "ping", "-c", "1", "-W", str(patience_s), str(dst.ip))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    match = _ROUND_TRIP.search(done.stdout)
    return _Ping(src, dst, "/".join(match.groups()) if done.returncode == 0 and match else None)


def _pings(session: LiveSession, hosts: Sequence[Host], patience_s: int) -> list[_Ping]:
    if shutil.which("ping") is None:
        raise VerbError("ping is not installed: on Debian, install iputils-ping")
    pairs = [(src, dst) for src in hosts for dst in _partners(session, src, hosts) if src != dst]
    with ThreadPoolExecutor(_PINGS_AT_ONCE) as pool:
        return list(pool.map(lambda pair: _ping(session, pair[0], pair[1], patience_s), pairs))


def _partners(session: LiveSession, src: Host, hosts: Sequence[Host]) -> Sequence[Host]:
    """Return the hosts that `src` pings: all of `hosts`, or of the whole network only those of its plane."""
    return session.topology.hosts_in_plane_of(src.name) if len(hosts) == len(session.topology.hosts) else hosts


def _patience_s(session: LiveSession) -> int:
    rtt_s = session.dilation.wall_ns(session.plan.transport.base_rtt_ns) / 1e9
    return max(1, math.ceil(_PATIENCE_RTTS * rtt_s))


def _ping_among(session: LiveSession, terminal: Terminal, hosts: Sequence[Host], words: Sequence[str] = ()) -> str:
    if words and not words[0].isdecimal():
        raise VerbError(f"{words[0]!r} is not a number of seconds")
    terminal.say("*** Ping: testing ping reachability")
    pings = _pings(session, hosts, int(words[0]) if words else _patience_s(session))
    for src in hosts:
        marks = [ping.dst.name if ping.round_trip else "X" for ping in pings if ping.src == src]
        terminal.say(f"{src.name} -> {' '.join(marks)}")
    received = sum(ping.round_trip is not None for ping in pings)
    lost = 100 * (len(pings) - received) // max(1, len(pings))
    result = f"*** Results: {lost}% dropped ({received}/{len(pings)} received)"
    if received < len(pings):
        raise VerbError(result)
    return result


def _ping_full(session: LiveSession, terminal: Terminal, hosts: Sequence[Host]) -> str:
    pings = _pings(session, hosts, _patience_s(session))
    for ping in pings:
        terminal.say(f" {ping.src.name}->{ping.dst.name}: rtt min/avg/max/mdev {ping.round_trip or 'lost'} ms (wall)")
    received = sum(ping.round_trip is not None for ping in pings)
    if received < len(pings):
        raise VerbError(f"*** Results: {received}/{len(pings)} received")
    return f"*** Results: {received}/{len(pings)} received"


def _pair(session: LiveSession, words: Sequence[str]) -> tuple[Host, Host]:
    """Return the client and the server: the first and the last host (of the first plane) by default, as in Mininet."""
    if not words:
        hosts = session.topology.first_plane.hosts
        return hosts[0], hosts[-1]
    client, server = (session.host(word) for word in words)
    if client == server:
        raise VerbError("client and server must be different hosts")
    return client, server


def _iperf(
    session: LiveSession, client: Host, server: Host, client_arguments: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Run one iperf3 test; return what the client and the server measured."""
    children: list[RunChild] = []
    try:
        for role, host in (("server", server), ("client", client)):
            pid = session.network.emulation.host_pid(host.name)
            words = in_network_of(pid, sys.executable, "-m", "sfc_testbed.testbed.live.iperf3_peer", role)
            words += [str(server.ip), str(_IPERF_PORT), str(_IPERF_SECONDS)]
            words += client_arguments if role == "client" else ()
            log = session.network.logs / f"iperf-{role}.log"
            children.append(RunChild(f"iperf {role}", words, session.network.run_id, log))
            children[-1].wait_for_line("ready", _READY_SECONDS)
        deadline = time.monotonic() + _IPERF_SECONDS + _IPERF_MARGIN_S
        return _answer(children[1], deadline), _answer(children[0], deadline)
    except RunError as error:
        raise VerbError(str(error)) from error
    finally:
        for child in children:
            child.stop()


def _answer(peer: RunChild, deadline: float) -> dict[str, Any]:
    lines: list[str] = []
    while not any(line.startswith("{") for line in lines):
        has_ended = peer.has_ended
        lines += peer.lines()
        if has_ended and not lines:
            raise VerbError(f"iperf ended without a result: {peer.last_words()}")
        if time.monotonic() > deadline:
            raise VerbError("iperf got no answer: try `pingall`, `links`")
        readable([peer], 0.2)
    report: dict[str, Any] = json.loads(next(line for line in lines if line.startswith("{")))
    if report["error"] is not None:
        raise VerbError(f"iperf: {report['error']}")
    return report


def _rate(session: LiveSession, wall_bps: float) -> str:
    return f"{wall_bps * session.dilation.factor / 1e9:.2f} Gb/s ({wall_bps / 1e6:.2f} Mbits/sec on the wall clock)"


def _in_flight(unreceived_bytes: int) -> str:
    """Return a note about the bytes that the client's socket had taken but the server had not received at the end."""
    if unreceived_bytes <= 0:
        return ""
    return f"; {unreceived_bytes / 1000:.0f} KB more were on their way when the time was up"


_XTERM_SUMMARY = "opens a terminal window for a node; needs a display"
VERBS = {
    "pingall": Verb(
        ("[TIMEOUT]",),
        "pings between all hosts; TIMEOUT is in seconds of wall time",
        lambda session, terminal, words: _ping_among(session, terminal, session.topology.hosts, words),
    ),
    "pingpair": Verb(
        ("",),
        "pings between the first two hosts",
        lambda session, terminal, words: _ping_among(session, terminal, session.topology.hosts[:2], words),
    ),
    "pingset": Verb(
        ("HOST...",),
        "pings between some hosts",
        lambda session, terminal, words: _ping_among(session, terminal, [session.host(word) for word in words]),
    ),
    "pingallfull": Verb(
        ("",),
        "pings between all hosts, with round trip times",
        lambda session, terminal, words: _ping_full(session, terminal, session.topology.hosts),
    ),
    "pingpairfull": Verb(
        ("",),
        "pings between the first two hosts, with round trip times",
        lambda session, terminal, words: _ping_full(session, terminal, session.topology.hosts[:2]),
    ),
    "iperf": Verb(("", "SRC DST"), "measures TCP throughput between two hosts for 5 s of wall time", iperf),
    "iperfudp": Verb(
        ("", "GBPS SRC DST"), "measures UDP throughput and loss at a rate (model Gb/s, or wall bits/s as 10M)", iperfudp
    ),
    "xterm": Verb(("NODE...",), _XTERM_SUMMARY, xterm),
    "gterm": Verb(("NODE...",), _XTERM_SUMMARY, xterm),
    "x": Verb(("NODE [COMMAND...]",), "explains how to show the windows of a node's programs", x11),
}
