# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Verbs that show the state of switches: queues, signals, drops, pause caches and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from sfc_testbed.testbed.live.session import switches as reading
from sfc_testbed.testbed.live.session.control import ControlledSwitch
from sfc_testbed.testbed.live.session.session import LiveSession
from sfc_testbed.testbed.prompt.terminal import Terminal
from sfc_testbed.testbed.prompt.verb import Verb
from sfc_testbed.wire.constants import CLASS_BTS, CLASS_CONTROL, CLASS_DATA, CLASS_DEFAULT
from sfc_testbed.wire.counters import BfcEvent

_CLASS_NAMES = {CLASS_BTS: "BTS", CLASS_CONTROL: "control", CLASS_DATA: "data", CLASS_DEFAULT: "default"}


def queues(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    """Show the queues of switches. One command reads a whole switch, so its lines agree with its total."""

    def lines(switch: ControlledSwitch) -> list[str]:
        at_us, depths = session.now_us, session.queues(switch.name)
        total_bytes = sum(queue.held_bytes for queue in depths)
        return [
            f"{switch.name} at {at_us:.1f} us: {total_bytes} B of frames in all queues",
            *(
                f"  port {queue.port.number} to {queue.port.peer.node}, {_class_name(queue.traffic_class)}: "
                f"{queue.held_bytes} B"
                for queue in depths
            ),
        ]

    return _of_switches(session, words, lines)


def _class_name(traffic_class: int) -> str:
    name = _CLASS_NAMES.get(traffic_class)
    return f"class {traffic_class}" + (f" ({name})" if name else "")


def drops(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    def lines(switch: ControlledSwitch) -> list[str]:
        totals = switch.counts().drops + switch.statistics().drops
        return [f"{switch.name}: {', '.join(f'{reason} {count}' for reason, count in totals.items()) or 'none'}"]

    return _of_switches(session, words, lines)


def cache(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    def lines(switch: ControlledSwitch) -> list[str]:
        cached = session.cache(switch.name)
        return [
            f"{switch.name}: {len(cached.entries)} live entries now, "
            f"{cached.most_entries} at the peak since it started",
            *(
                f"  {entry.host} {entry.address}, DSCP {entry.dscp}: "
                + (
                    f"paused for {entry.left_us:.1f} us more"
                    if entry.left_us > 0
                    else f"expired {-entry.left_us:.1f} us ago"
                )
                for entry in cached.entries
            ),
        ]

    return _of_switches(session, words, lines)


def show_tables(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    is_complete = words[-1:] == ["all"]
    chosen = words[:-1] if is_complete else words
    switch = session.switch(chosen[0]) if chosen else next(iter(session.switches.values()))
    all_tables = reading.tables(switch)
    selected = all_tables if is_complete else [row for row in all_tables if not reading.is_compiler_made(row[0])]
    names = [name for name, _ in all_tables]
    lines = [line.replace(name, f"{reading.short_name(name, names):<24}", 1) for name, line in selected]
    if len(selected) < len(all_tables):
        lines.append(f"{len(all_tables) - len(selected)} tables that the compiler made: `show_tables all`")
    return "\n".join(" ".join(line.split()) for line in lines)


def table_dump(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    switch = session.switch(words[0])
    if len(words) > 1 and words[1] != "all":
        return switch.command(f"table_dump {words[1]}")
    lines: list[str] = []
    names = [name for name, _ in reading.tables(switch)]
    for name in names:
        if words[1:] or not reading.is_compiler_made(name):
            lines += [f"{reading.short_name(name, names)}:", *(f"  {line}" for line in _dump(switch, name))]
    return "\n".join(lines)


def print_switches(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    lines: list[str] = []
    for name, controlled in session.switches.items():
        ports = ", ".join(f"{port.number}->{port.peer.node}" for port in session.topology.ports[name])
        lines.append(f"{name}: {ports}{'' if controlled.is_up else f' ({controlled.state})'}")
    return "\n".join(lines)


def counted(session: LiveSession, words: Sequence[str]) -> str:
    """Return the counts of BTS and pause frames of switches, by cause."""

    def lines(switch: ControlledSwitch) -> list[str]:
        counts = switch.counts()
        labels = [f"{event.label} {count}" for event, count in counts.bts.items() if count]
        labels += [f"pause_{event.label} {count}" for event, count in counts.pfc.items() if count]
        labels += [
            f"queue_{event.label} {count}"
            for event, count in counts.by_table[BfcEvent].items()
            if count and "bfc.sent" in event.fields
        ]
        return [f"{switch.name}: {', '.join(labels) or 'none'}"]

    return _of_switches(session, words, lines)


def _dump(switch: ControlledSwitch, table: str) -> list[str]:
    """Return the lines of a table dump; consecutive identical lines are printed once."""
    return [next(iter(group)) for _, group in groupby(switch.command(f"table_dump {table}").splitlines())]


def _of_switches(session: LiveSession, words: Sequence[str], lines: Callable[[ControlledSwitch], Sequence[str]]) -> str:
    """Return the lines of the named switch, or of all switches; a switch that is not running has one line."""
    if words:
        return "\n".join(lines(session.switch(words[0])))
    result: list[str] = []
    for switch in session.switches.values():
        result += lines(switch) if switch.is_up else [down(switch)]
    return "\n".join(result)


def down(switch: ControlledSwitch) -> str:
    """Return the line about a switch that is not running."""
    return f"{switch.state}; `switch {switch.name} start` starts it again"


VERBS = {
    "queues": Verb(("[SWITCH]",), "shows the bytes of frames queued now, by port and class", queues),
    "drops": Verb(("[SWITCH]",), "shows the packets dropped since the switch started, by reason", drops),
    "cache": Verb(("[SWITCH]",), "shows the live entries of the pause caches", cache),
    "show_tables": Verb(
        ("[all]", "SWITCH [all]"), "shows the tables of the P4 program; `all` adds those of the compiler", show_tables
    ),
    "table_dump": Verb(
        ("SWITCH TABLE", "SWITCH [all]"), "shows the entries of a table (short names such as ipv4_lpm work)", table_dump
    ),
    "printSwitches": Verb(("",), "shows the switches and the neighbour at each port", print_switches),
}
