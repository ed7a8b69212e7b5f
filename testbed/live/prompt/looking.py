# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Verbs that look into switches: what they hold, have signalled, dropped and remember."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from testbed.live.prompt.terminal import Terminal
from testbed.live.prompt.verb import Verb
from testbed.live.session import switches as reading
from testbed.live.session.control import ControlledSwitch
from testbed.live.session.session import LiveSession
from wire.constants import CLASS_BTS, CLASS_CONTROL, CLASS_DATA, CLASS_DEFAULT

_CLASS_NAMES = {CLASS_BTS: "BTS", CLASS_CONTROL: "control", CLASS_DATA: "data", CLASS_DEFAULT: "default"}


def queues(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    """Each switch is read by one command: its lines are of one moment and add up to its total."""

    def lines(switch: ControlledSwitch) -> list[str]:
        at_us, held = session.now_us, session.queues(switch.name)
        total_bytes = sum(queue.held_bytes for queue in held)
        return [
            f"{switch.name} at {at_us:.1f} us: {total_bytes} B of frames in all queues",
            *(
                f"  port {queue.port.number} to {queue.port.peer.node}, {_class_name(queue.traffic_class)}: "
                f"{queue.held_bytes} B"
                for queue in held
            ),
        ]

    return _of_switches(session, words, lines)


def _class_name(traffic_class: int) -> str:
    name = _CLASS_NAMES.get(traffic_class)
    return f"class {traffic_class}" + (f" ({name})" if name else "")


def drops(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    def lines(switch: ControlledSwitch) -> list[str]:
        found = switch.counts().drops + switch.statistics().drops
        return [f"{switch.name}: {', '.join(f'{reason} {count}' for reason, count in found.items()) or 'none'}"]

    return _of_switches(session, words, lines)


def cache(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    def lines(switch: ControlledSwitch) -> list[str]:
        found = session.cache(switch.name)
        return [
            f"{switch.name}: {len(found.entries)} live entries now, {found.most_entries} at the peak since it started",
            *(
                f"  {each.host} {each.address}, DSCP {each.dscp}: "
                + (
                    f"paused for {each.left_us:.1f} us more"
                    if each.left_us > 0
                    else f"over since {-each.left_us:.1f} us"
                )
                for each in found.entries
            ),
        ]

    return _of_switches(session, words, lines)


def show_tables(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    names = [word for word in words if word != "all"]
    switch = session.switch(names[0]) if names else next(iter(session.switches.values()))
    found = reading.tables(switch)
    shown = found if "all" in words else [each for each in found if not reading.is_compiler_made(each[0])]
    lines = [line.replace(name, f"{reading.short_name(name):<24}", 1) for name, line in shown]
    if len(shown) < len(found):
        lines.append(f"and {len(found) - len(shown)} that the compiler made of statements: `show_tables all`")
    return "\n".join(" ".join(line.split()) for line in lines)


def table_dump(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    switch = session.switch(words[0])
    if len(words) > 1 and words[1] != "all":
        return switch.command(f"table_dump {words[1]}")
    lines: list[str] = []
    for name, _ in reading.tables(switch):
        if words[1:] or not reading.is_compiler_made(name):
            lines += [f"{reading.short_name(name)}:", *(f"  {line}" for line in _dump(switch, name))]
    return "\n".join(lines)


def print_switches(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    lines: list[str] = []
    for name, each in session.switches.items():
        ports = ", ".join(f"{port.number}->{port.peer.node}" for port in session.topology.ports[name])
        lines.append(f"{name}: {ports}{'' if each.is_up else f' ({each.state})'}")
    return "\n".join(lines)


def counted(session: LiveSession, words: Sequence[str]) -> str:
    """Return the BTS and pause frames of switches, by what they were."""

    def lines(switch: ControlledSwitch) -> list[str]:
        counts = switch.counts()
        seen = [f"{event.label} {count}" for event, count in counts.bts.items() if count]
        seen += [f"pause_{event.label} {count}" for event, count in counts.pfc.items() if count]
        return [f"{switch.name}: {', '.join(seen) or 'none'}"]

    return _of_switches(session, words, lines)


def _dump(switch: ControlledSwitch, table: str) -> list[str]:
    """Entries that read alike but for their number are as good as one, where there are many."""
    return [next(iter(group)) for _, group in groupby(switch.command(f"table_dump {table}").splitlines())]


def _of_switches(session: LiveSession, words: Sequence[str], lines: Callable[[ControlledSwitch], Sequence[str]]) -> str:
    """Return the lines of the switch that is named, or of all switches; a line says so where one does not run."""
    if words:
        return "\n".join(lines(session.switch(words[0])))
    found: list[str] = []
    for each in session.switches.values():
        found += lines(each) if each.is_up else [down(each)]
    return "\n".join(found)


def down(switch: ControlledSwitch) -> str:
    """Return a line about a switch that does not run."""
    return f"{switch.state}; `switch {switch.name} start` starts it again"


VERBS = {
    "queues": Verb(("[SWITCH]",), "bytes of frames held now, by port and class", queues),
    "drops": Verb(("[SWITCH]",), "packets dropped since the switch started, by reason", drops),
    "cache": Verb(("[SWITCH]",), "live entries of the pause caches", cache),
    "show_tables": Verb(("[all]", "SWITCH [all]"), "tables of the P4 program; `all`: the compiler's too", show_tables),
    "table_dump": Verb(
        ("SWITCH TABLE", "SWITCH [all]"), "entries of a table, by a short name such as ipv4_lpm", table_dump
    ),
    "printSwitches": Verb(("",), "switches and what their ports lead to", print_switches),
}
