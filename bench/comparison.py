# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The first table of docs/performance.md: our speed compared with others, from stored figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bench.benchmarks.peers import TARGETS, WORKERS
from bench.instruments.benchmark import Figure
from bench.report import value_text
from sfc_testbed.analysis.formatting import markdown_table

_HEADINGS = ("compared with", "work", "theirs", "ours", "ours / theirs", f"{WORKERS} workers / theirs")
_SWITCHES = {"BMv2": "BMv2", "a bare forwarder": "forwarder"}
"""The contestants of the benchmark `switch`, and their figures' names."""
_SWITCH_WORK = "lossless rate; switches run the SFC program"


def comparison(figures: Sequence[Figure]) -> str:
    """Return a row for each work that was measured with a peer or a switch; one without a stored figure says so."""
    texts = {figure.name: value_text(figure) for figure in figures}
    rows: list[Sequence[str]] = []
    for peer in (peer.name for peer in TARGETS):
        rows += list(_peer_rows(peer, texts)) or [_absent(peer)]
    for label, switch in _SWITCHES.items():
        ratio = texts.get(f"softswitch / {switch}")
        rates = (texts.get(switch, ""), texts.get("softswitch", ""))
        rows.append((label, _SWITCH_WORK, *rates, ratio, "") if ratio else _absent(label))
    return markdown_table(_HEADINGS, rows)


def _peer_rows(peer: str, texts: Mapping[str, str]) -> Iterator[Sequence[str]]:
    ending = f": ours / {peer}"
    for name in texts:
        if name.endswith(ending):
            work = name.removesuffix(ending)
            names = (peer, "ours", f"ours / {peer}", f"ours, {WORKERS} workers / {peer}")
            yield peer, work, *(texts.get(f"{work}: {name}", "") for name in names)


def _absent(label: str) -> Sequence[str]:
    return label, "not measured", "", "", "", ""
