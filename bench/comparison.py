# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The tables of README.md and docs/performance.md: our speed compared with others, from stored figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bench.benchmarks.peers import PEERS, WORKERS
from bench.instruments.benchmark import Figure
from bench.report import value_text
from sfc_testbed.analysis.formatting import markdown_table

_OURS = ("ours", f"ours, {WORKERS} workers")
_PEER_HEADINGS = (
    "simulator",
    "work",
    "theirs",
    "ours: 1 worker",
    f"{WORKERS} workers",
    "ratio: 1 worker",
    f"{WORKERS} workers",
)
_SWITCH_HEADINGS = ("switch", "theirs", "ours", "ours / theirs")
_SWITCHES = {"BMv2": "BMv2", "a bare forwarder": "forwarder"}
"""The contestants of the benchmark `switch`, and their figures' names."""
_TIMES = ("wall time", "CPU time")


def simulators(figures: Sequence[Figure], times: Sequence[str] = ("wall time",)) -> str:
    """Return a table of simulators with wall times only, or with other `times`. What has no stored figure says so."""
    texts = {figure.name: value_text(figure) for figure in figures}
    peers: list[Sequence[str]] = []
    for peer in (peer.name for peer in PEERS):
        peers += list(_peer_rows(peer, texts, times)) or [(peer, "not measured", *[""] * 5)]
    return markdown_table(_PEER_HEADINGS, peers)


def comparison(figures: Sequence[Figure]) -> str:
    """Return the table of simulators with wall and CPU times, and one of switches."""
    texts = {figure.name: value_text(figure) for figure in figures}
    switches: list[Sequence[str]] = []
    for label, switch in _SWITCHES.items():
        names = (switch, "softswitch", f"softswitch / {switch}")
        is_stored = names[-1] in texts
        switches.append(
            (label, *(texts.get(name, "") for name in names)) if is_stored else (label, "not measured", "", "")
        )
    return f"{simulators(figures, _TIMES)}\n{markdown_table(_SWITCH_HEADINGS, switches)}"


def _peer_rows(peer: str, texts: Mapping[str, str], times: Sequence[str]) -> Iterator[Sequence[str]]:
    ending = f": {peer} / {_OURS[0]}, {_TIMES[0]}"
    for name in texts:
        if name.endswith(ending):
            work = name.removesuffix(ending)
            columns = (peer, *_OURS, *(f"{peer} / {ours}" for ours in _OURS))
            yield peer, work, *(_of_times(f"{work}: {column}", texts, times) for column in columns)


def _of_times(name: str, texts: Mapping[str, str], times: Sequence[str]) -> str:
    return ", ".join(text for time in times if (text := texts.get(f"{name}, {time}")))
