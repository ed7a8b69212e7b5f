# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Verbs that follow events live: signals as they arrive, and the curve of a queue. Any key ends them."""

from __future__ import annotations

import shutil
from bisect import bisect_right
from collections.abc import Callable, Sequence
from math import inf

from rich.live import Live
from rich.text import Text

from sfc_testbed.analysis.life.stored import REQUESTS
from sfc_testbed.hosts.protocol import Signal
from sfc_testbed.testbed.live.session import switches as reading
from sfc_testbed.testbed.live.session.journal import Journal
from sfc_testbed.testbed.live.session.session import LiveSession
from sfc_testbed.testbed.prompt import looking
from sfc_testbed.testbed.prompt.curve import curve, curve_columns, kilobytes
from sfc_testbed.testbed.prompt.terminal import Terminal
from sfc_testbed.testbed.prompt.verb import Verb
from sfc_testbed.testbed.prompt.words import seconds

_FOLLOW_EVERY_S = 0.1
_HOLD_NS = 300_000_000
"""The wall time for which a signal waits for earlier ones. Agents report every 50 ms, each at its own time."""
_WATCH_EVERY_S = 0.02
_DRAW_EVERY = 5
_ROWS = 10
_MOST_COLUMNS = 200


def bts(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    if words[:1] != ["-f"]:
        return looking.counted(session, words)
    for_s = seconds(words[1]) if words[1:] else None
    signals = SignalsInOrder(session.journal)
    hold_us = session.dilation.model_us(_HOLD_NS)

    def show(until_us: float) -> None:
        for signal in signals.received_until(until_us):
            terminal.say(_signal_line(session, signal))

    for _ in terminal.until_key(for_s, _FOLLOW_EVERY_S):
        show(session.now_us - hold_us)
    session.look()  # the agents report everything before they answer
    show(inf)
    return f"{signals.count} BTS"


class SignalsInOrder:
    """The signals that hosts receive from now on, in order of time: agents report theirs one after the other."""

    def __init__(self, journal: Journal) -> None:
        self.count = 0
        """The number of signals returned so far."""
        self._journal = journal
        self._read, _ = journal.signals_since(0)
        self._waiting: list[Signal] = []

    def received_until(self, until_us: float) -> list[Signal]:
        """Return the signals that hosts received until a time, oldest first, without those returned before."""
        self._read, new_signals = self._journal.signals_since(self._read)
        self._waiting = sorted([*self._waiting, *new_signals], key=lambda signal: signal.received_us)
        end = bisect_right(self._waiting, until_us, key=lambda signal: signal.received_us)
        due, self._waiting = self._waiting[:end], self._waiting[end:]
        self.count += len(due)
        return due


def watch(session: LiveSession, terminal: Terminal, words: Sequence[str]) -> str:
    if list(words) == ["--web"]:
        return f"watch: {session.watch()}"
    switch = session.switch(words[0])
    rest = list(words[1:])
    has_time = len(rest) > 1 or (bool(rest) and rest[0].endswith("s") and rest[0] not in session.topology.switch)
    for_s = seconds(rest.pop()) if has_time else None
    if rest:
        port = session.port(switch.name, rest[0])
        title = f"{switch.name} port {port.number} to {port.peer.node}"
        return _watch(session, terminal, title, for_s, lambda: reading.register(switch, "port_bytes", port.number))
    title = f"{switch.name}, all queues"
    return _watch(session, terminal, title, for_s, lambda: reading.register(switch, "buffer_bytes", 0))


class _Depths:
    """Depths of a queue since `watch` began, and the curve that shows them."""

    def __init__(self, session: LiveSession, title: str) -> None:
        self._title = title
        self._session = session
        self._threshold = session.plan.config.thresholds_bytes.get("Q_th")
        self._values: list[int] = []
        self._begin_us = self._end_us = session.now_us

    def add(self, depth_bytes: int) -> None:
        self._values.append(depth_bytes)
        self._end_us = self._session.now_us

    def latest(self) -> str:
        """Return a curve of the latest depths, one column per reading."""
        return self._picture(self._values, 1)

    def whole(self) -> str:
        """Return a curve of all depths; each column shows the highest depth of its readings."""
        per_column = -(-len(self._values) // curve_columns(_columns()))
        highest = [max(self._values[i : i + per_column]) for i in range(0, len(self._values), per_column)]
        return self._picture(highest, per_column)

    def _picture(self, values: Sequence[int], readings_per_column: int) -> str:
        now, peak = kilobytes(self._values[-1]), kilobytes(max(self._values))
        watched_us = self._end_us - self._begin_us
        column_us = readings_per_column * watched_us / len(self._values)
        head = (
            f"{self._title}: {now} of frames at {self._end_us:.1f} us, {peak} at the peak of the {watched_us:.1f} us "
            f"watched; a column is {column_us:.3g} us"
        )
        if self._threshold:
            head += f", dotted: Q_th {kilobytes(self._threshold)}"
        return "\n".join([head, *curve(values, columns=_columns(), rows=_ROWS, threshold=self._threshold)])


def _columns() -> int:
    return min(_MOST_COLUMNS, shutil.get_terminal_size().columns)


def _watch(session: LiveSession, terminal: Terminal, title: str, for_s: float | None, read: Callable[[], int]) -> str:
    depths = _Depths(session, title)
    with Live(console=terminal.console, auto_refresh=False, transient=True) as live:
        for turn, _ in enumerate(terminal.until_key(for_s, _WATCH_EVERY_S)):
            depths.add(read())
            if terminal.has_keys and turn % _DRAW_EVERY == 0:
                live.update(Text(f"{depths.latest()}\npress any key to stop"), refresh=True)
    return depths.whole()


def _signal_line(session: LiveSession, signal: Signal) -> str:
    flows = {message.flow.flow_id: message.flow for message in session.journal.messages()}
    flow = None if signal.flow_id is None else flows.get(signal.flow_id)
    obeyed = "obeyed" if signal.obeyed else "not obeyed"
    origin = "an application" if flow is None else f"message {flow.flow_id} to {flow.dst}"
    request = REQUESTS.get(signal.cause, f"pause {signal.pause_us:.1f} us")
    return (
        f"{signal.received_us:.1f} us: {signal.switch} to {signal.host}, {origin}: {signal.cause}, "
        f"{signal.queue_depth_bytes} B queued, {request}, {obeyed}"
    )


VERBS = {
    "bts": Verb(
        ("[SWITCH]", "-f [SECONDS]"),
        "shows BTS and pause frames, sent and suppressed, by cause; `-f` follows them as they reach hosts",
        bts,
    ),
    "watch": Verb(
        ("SWITCH [PORT] [SECONDS]", "SWITCH SECONDS", "--web"),
        "draws a live curve of a queue, or of the whole buffer, until a key is pressed; `--web` shows the network in a "
        "browser, at the printed address",
        watch,
    ),
}
