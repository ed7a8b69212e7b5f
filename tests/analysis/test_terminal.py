# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for tables on terminals of any width."""

from __future__ import annotations

from collections import Counter

import pytest
from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table

from sfc_testbed.analysis.terminal import PROSE, Fitted
from tests.analysis.narrow import printed

FIGURES = {"buffer": "786 KB (0.905x)", "P50": "4.74 ±0.12", "P99": "31.3 ±4.7", "drops": "1,368"}


def _lines(table: RenderableType, width: int) -> list[str]:
    lines = printed(table, width).splitlines()
    assert max(map(len, lines)) <= width
    return [line.strip() for line in lines if line.strip()]


def _figures() -> Table:
    table = Table(title="a title", box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False, collapse_padding=True)
    table.add_column("scheme")
    for heading in FIGURES:
        table.add_column(heading, justify="right")
    table.add_row("egress-bts", *FIGURES.values())
    return table


@pytest.mark.parametrize("width", [100, 80, 60, 40, 30, 20])
def test_no_character_of_a_table_is_lost(width: int) -> None:
    text = "".join(_lines(Fitted(_figures()), width)).replace(" ", "").replace("─", "")
    parts = text.count("scheme")
    once, everywhere = "".join(["a title", *FIGURES, *FIGURES.values()]), "scheme egress-bts"
    assert parts >= 1
    assert Counter(text) == Counter((once + everywhere * parts).replace(" ", ""))


def test_cells_wrap_between_words_before_a_table_is_split() -> None:
    assert "egress-bts  786 KB (0.905x)  4.74 ±0.12  31.3 ±4.7  1,368" in _lines(Fitted(_figures()), 80)
    narrower = [line.split() for line in _lines(Fitted(_figures()), 54)]
    assert narrower[-2:] == [["egress-bts", "786", "KB", "4.74", "±0.12", "31.3", "±4.7", "1,368"], ["(0.905x)"]]
    split = _lines(Fitted(_figures()), 40)
    rows = [line for line in split if line.startswith("egress-bts")]
    assert rows == ["egress-bts  786 KB (0.905x)", "egress-bts  4.74 ±0.12  31.3 ±4.7", "egress-bts  1,368"]


def test_sentences_wrap_before_figures() -> None:
    """A column of sentences takes the remaining width, down to a legible minimum."""
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading, ratio in (("name", None), ("default", None), ("meaning", PROSE)):
        table.add_column(heading, ratio=ratio)
    table.add_row("switch.q_th_bytes", "2 BDP or so", "The depth above which a BTS is triggered.")
    assert _lines(Fitted(table), 80)[-1].endswith("2 BDP or so  The depth above which a BTS is triggered.")
    assert _lines(Fitted(table), 52)[1] == "switch.q_th_bytes  2 BDP or so  The depth above"
    split = _lines(Fitted(table), 36)
    assert split[1] == "switch.q_th_bytes  2 BDP or so" and split[3] == "switch.q_th_bytes  The depth above"


def test_a_table_can_be_printed_on_a_terminal_of_one_column() -> None:
    assert printed(Fitted(_figures(), keys=3), 1)
