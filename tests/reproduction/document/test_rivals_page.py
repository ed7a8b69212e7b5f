# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The sentences of docs/rivals.md, which are written by hand, have figures of the stored tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sfc_testbed.place import ROOT
from sfc_testbed.reproduction.summaries import read_summaries

_FIGURE = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?![\w.,]*\d)")
_OTHER_RUNS = {
    "1.03": "the ring without the incast's receiver, scale ci",
    "1.46": "the ring without the incast's receiver, scale ci",
    "7.66": "incasts of four times the size",
    "10.1": "incasts of four times the size",
    "16,384": "a size of the program",
    "125": "a message size in KB",
    "512": "hosts of the paper's network",
    "128": "senders of an incast in the paper's network",
}
"""Figures that are in no table of the experiment, and what they are about."""


def _sentences() -> str:
    page = (ROOT / "docs" / "rivals.md").read_text(encoding="utf-8")
    return re.sub(r"<!-- begin .*?<!-- end -->|```.*?```|\]\([^)]*\)|`[^`]*`|802\.1Qbb", "", page, flags=re.DOTALL)


def _stored() -> Iterator[float]:
    for summary in read_summaries():
        if summary.experiment == "rivals":
            for table in summary.tables:
                for row in table.rows:
                    yield from (float(cell.split()[0].replace(",", "")) for cell in row if cell[:1].isdigit())


def _rounded(value: float, figure: str) -> str:
    decimals = len(figure.partition(".")[2])
    return f"{value:,.{decimals}f}"


def test_figures_of_three_digits_are_those_of_a_stored_table() -> None:
    stored = list(_stored())
    figures = {figure for figure in _FIGURE.findall(_sentences()) if len(re.sub(r"\D", "", figure).lstrip("0")) >= 3}
    unknown = {figure for figure in figures if figure not in {_rounded(value, figure) for value in stored}}
    assert unknown - _OTHER_RUNS.keys() == set()
    assert _OTHER_RUNS.keys() <= figures, "figures that the page no longer has"
