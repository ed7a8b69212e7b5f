# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The verb that shows what is paused now: messages, programs and classes of hosts, and switches by other switches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sfc_testbed.hosts.protocol import HostState
from sfc_testbed.testbed.live.session.session import LiveSession
from sfc_testbed.testbed.prompt.looking import down
from sfc_testbed.testbed.prompt.terminal import Terminal
from sfc_testbed.testbed.prompt.traffic import host_name, is_idle
from sfc_testbed.testbed.prompt.verb import Verb


def pauses(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    states = session.look().hosts
    paused = [line for host in session.topology.hosts for line in _of_host(session, states[host.name])]
    paused += _of_switches(session)
    lines = [*paused, *(down(switch) for switch in session.switches.values() if not switch.is_up)]
    count = f"{len(paused)} pause{'s' * (len(paused) != 1)} now under {session.scheme}"
    return "\n".join([*lines, f"{count}; {_signals(session)}"])


def _of_host(session: LiveSession, host: HostState) -> Iterator[str]:
    src, class_us = host.statistics.host, host.class_paused_for_us
    flows = {message.flow.flow_id: message.flow for message in session.journal.messages()}
    paused = [
        (f"message {message.flow_id} to {flows[message.flow_id].dst}", message.paused_for_us)
        for message in host.messages
        if message.paused_for_us and message.flow_id in flows
    ]
    paused += [
        (f"an application's packets to {host_name(session, program.destination_ip)}", program.paused_for_us)
        for program in host.programs
        if program.paused_for_us and not is_idle(host, program)
    ]
    if class_us:
        held = ", ".join(what for what, paused_us in paused if paused_us == class_us) or "nothing waits in it"
        yield f"{src}, data class ({held}): {class_us:.1f} us more, unless its switch resumes it"
    is_resumed = session.plan.switch_settings.bfc_queues is not None
    for what, paused_us in paused:
        if paused_us != class_us:
            yield f"{src}, {what}: {paused_us:.1f} us more{', unless its switch resumes it' * is_resumed}"


def _of_switches(session: LiveSession) -> Iterator[str]:
    for name, switch in session.switches.items():
        if switch.is_up:
            for port, queues in session.paused_ports(name):
                what = "data class" if queues is None else f"{queues} flow queue{'s' * (queues != 1)}"
                yield f"{name} port {port.number}, {what}: until {port.peer.node} resumes it"


def _signals(session: LiveSession) -> str:
    """Return what asked for pauses since the current scheme began; signals of earlier schemes do not count."""
    settings = session.plan.switch_settings
    if settings.pfc or settings.sfc_p or settings.bfc_queues is not None:
        return "`bts` counts the pause frames of each switch"
    if not settings.makes_bts:
        return "its switches send neither BTS nor pause frames"
    signals = session.signals_of_scheme()
    obeyed = sum(signal.obeyed for signal in signals)
    return f"since {session.scheme} began, hosts received {len(signals)} BTS and obeyed {obeyed}"


VERBS = {"pauses": Verb(("",), "shows what is paused now, and for how much longer", pauses)}
