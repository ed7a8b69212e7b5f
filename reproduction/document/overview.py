# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Generates a part of a page that is otherwise written by hand: an experiment's first table and its figure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from analysis.formatting import markdown_table
from reproduction.document.parts import Pictures, figure_lines
from reproduction.summaries import Summary

OVERVIEWS = ("rivals",)
"""The experiments that have such a page in docs/, under their names."""
BEGIN, END = "<!-- begin overview, scale {} -->", "<!-- end overview -->"


def with_overview(text: str, summaries: Sequence[Summary], pictures: Pictures) -> str:
    """Return a page's text with the table and the figure of a scale between each pair of markers, which names it.

    Raise ValueError if there is no pair of markers, or a scale has no stored findings.
    """

    def part(match: re.Match[str]) -> str:
        chosen = [summary for summary in summaries if summary.scale == match[1]]
        if not chosen:
            raise ValueError(f"no stored findings at scale {match[1]}")
        return "\n".join([BEGIN.format(match[1]), *_lines(chosen[-1], pictures), END])

    replaced, count = re.subn(f"{BEGIN.format('([a-z]+)')}.*?{END}", part, text, flags=re.DOTALL)
    if not count:
        raise ValueError(f"expected a pair of markers {BEGIN} {END}")
    return replaced


def _lines(summary: Summary, pictures: Pictures) -> list[str]:
    seeds = f"{len(summary.seeds)} seeds" if len(summary.seeds) > 1 else f"seed {summary.seeds[0]}"
    table = summary.tables[0]
    lines = [f"{summary.heading.capitalize()}, {seeds}, `{summary.command}`:", ""]
    return [*lines, markdown_table(table.headings, table.rows).rstrip("\n"), *figure_lines(summary, pictures)]
