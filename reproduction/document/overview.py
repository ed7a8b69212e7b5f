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
BEGIN, END = "<!-- begin overview -->", "<!-- end overview -->"


def with_overview(text: str, summaries: Sequence[Summary], pictures: Pictures) -> str:
    """Return a page's text with the table and the figure of the largest scale between the markers.

    Raise ValueError if the pair of markers is missing.
    """
    largest = summaries[-1]
    seeds = f"{len(largest.seeds)} seeds" if len(largest.seeds) > 1 else f"seed {largest.seeds[0]}"
    table = largest.tables[0]
    lines = [BEGIN, f"{largest.heading.capitalize()}, {seeds}, `{largest.command}`:", ""]
    lines += [markdown_table(table.headings, table.rows).rstrip("\n"), *figure_lines(largest, pictures), END]
    replaced, count = re.subn(f"{BEGIN}.*?{END}", lambda _: "\n".join(lines), text, flags=re.DOTALL)
    if count != 1:
        raise ValueError(f"expected one pair of markers {BEGIN} {END}, found {count}")
    return replaced
