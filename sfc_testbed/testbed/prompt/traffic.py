# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Verbs that send messages and show their progress. Times are model time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sfc_testbed.hosts.protocol import FlowSent, HostState, MessageState, ProgramFlowState
from sfc_testbed.testbed.live.session.journal import Message
from sfc_testbed.testbed.live.session.session import LiveSession
from sfc_testbed.testbed.prompt.terminal import Terminal
from sfc_testbed.testbed.prompt.verb import Verb
from sfc_testbed.testbed.prompt.words import VerbError, duration_us, size_bytes

_LATEST_MESSAGES = 20
_STARTING_US = 1000.0
_PROTOCOLS = {6: "TCP", 17: "UDP", 1: "ICMP"}


def send(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    src, dst, size = words[:3]
    message = session.send(src, dst, size_bytes(size))
    return _followed(session, [message], words[3:], f"{src} sends {message.flow.size_bytes} B to {dst}")


def incast(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    waits = [word for word in words[3:] if word == "wait"]
    sync = [word for word in words[3:] if word != "wait"]
    if len(waits) > 1:
        raise VerbError(f"usage: {VERBS['incast'].usage('incast')}")
    dst, count, size = words[:3]
    if not count.isdecimal():
        raise VerbError(f"{count!r} is not a number of senders")
    messages = session.incast(dst, int(count), size_bytes(size), duration_us(sync[0]) if sync else 0)
    senders = ", ".join(message.flow.src for message in messages)
    verb, each = ("send", " each") if len(messages) > 1 else ("sends", "")
    return _followed(session, messages, waits, f"{senders} {verb} {messages[0].flow.size_bytes} B{each} to {dst}")


def wait(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    if session.wait():
        return _summary(session.journal.messages())
    raise VerbError(
        f"{len(session.journal.unfinished())} messages are not done after a minute: try `flows`, `pauses`, `links`"
    )


def flows(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    hosts = session.look().hosts
    states = {state.flow_id: state for host in hosts.values() for state in host.messages}
    messages = session.journal.messages()
    selected = messages if words else messages[-_LATEST_MESSAGES:]
    lines = [_line(message, states.get(message.flow.flow_id), session.now_us) for message in selected]
    if len(selected) < len(messages):
        lines.insert(0, f"the last {len(selected)} of {len(messages)} messages; `flows all` shows all")
    if lines:
        lines.insert(0, f"at {session.now_us:.1f} us; sizes are payload, without headers")
    lines += _program_lines(session, hosts.values())
    return "\n".join(lines) or "no flows yet: try `send` or `incast`, or an application such as `h1 iperf3 -s`"


def _followed(session: LiveSession, messages: list[Message], words: Sequence[str], description: str) -> str:
    if not words:
        return f"{description}; `flows` shows their progress"
    if not session.wait(messages):
        raise VerbError(f"{description}: not done after a minute")
    return f"{description}: {_summary(messages)}"


def _summary(messages: Sequence[Message]) -> str:
    slowdowns = [message.slowdown for message in messages if message.slowdown is not None]
    corrupted = sum(message.received is not None and message.received.figures.corrupted for message in messages)
    if not slowdowns:
        return "no message was sent"
    done = f"{len(slowdowns)} of {len(messages)} messages are done"
    slowdown = f"slowdown {sum(slowdowns) / len(slowdowns):.2f} on average, {max(slowdowns):.2f} at most"
    return f"{done}, {slowdown}{f', {corrupted} corrupted' if corrupted else ''}"


def _line(message: Message, state: MessageState | None, now_us: float) -> str:
    flow = message.flow
    head = f"{flow.flow_id}: {flow.src} to {flow.dst}, {flow.size_bytes} B: "
    if message.sent is not None and message.fct_us is not None:
        return f"{head}{_done(message, message.sent)}"
    if message.is_abandoned:
        return head + "abandoned unfinished when a scenario took over the hosts"
    if state is None:
        return head + ("about to start" if flow.start_ns / 1000 > now_us - _STARTING_US else "not under way")
    return f"{head}{100 * state.acknowledged_bytes / flow.size_bytes:.0f} % acknowledged, {_under_way(state)}"


def _done(message: Message, sent: FlowSent) -> str:
    broken = ", CORRUPTED" if message.received is not None and message.received.figures.corrupted else ""
    costs = f"paused {sent.figures.paused_us:.1f} us, {sent.figures.packets_resent} resent"
    return f"done in {message.fct_us:.1f} us (slowdown {message.slowdown:.2f}, {costs}){broken}"


def _under_way(state: MessageState) -> str:
    pause = f", paused for {state.paused_for_us:.1f} us more" if state.paused_for_us else ""
    window = "no window" if state.window_bytes is None else f"window {state.window_bytes} B"
    limits = f"({window}, rate {state.rate_gbps:.3g} Gb/s)"
    return f"{state.in_flight_bytes} B in flight {limits}{pause}, {state.figures.packets_resent} resent"


def _program_lines(session: LiveSession, hosts: Iterable[HostState]) -> list[str]:
    lines = []
    for host in hosts:
        for program in host.programs:
            if is_idle(host, program):
                continue
            kind = _PROTOCOLS.get(program.protocol, f"protocol {program.protocol}")
            pause = f", paused for {program.paused_for_us:.1f} us more" if program.paused_for_us else ""
            lines.append(
                f"application: {host.statistics.host}:{program.source_port} to "
                f"{host_name(session, program.destination_ip)}:"
                f"{program.destination_port} ({kind}): {program.held_bytes} B waiting in the NIC{pause}"
            )
    return lines


def is_idle(host: HostState, program: ProgramFlowState) -> bool:
    """Return whether a program's flow has no packets and no pause of its own, but is in a class that is paused."""
    return not program.held_bytes and program.paused_for_us == host.class_paused_for_us


def host_name(session: LiveSession, address: str) -> str:
    """Return the name of the host with an address, or the address if no host has it."""
    return next((host.name for host in session.topology.hosts if str(host.ip) == address), address)


VERBS = {
    "send": Verb(
        ("SRC DST SIZE [wait]",), "sends a message of SIZE (250KB, 1MB); `wait` returns when it is done", send
    ),
    "incast": Verb(
        ("DST N SIZE [wait]", "DST N SIZE SYNC [wait]"),
        "sends a message from each of N hosts to DST, at once or spread over SYNC (50us)",
        incast,
    ),
    "wait": Verb(("",), "waits until all messages are done", wait),
    "flows": Verb(("[all]",), "shows messages and flows of applications: done, under way or paused", flows),
}
