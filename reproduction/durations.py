# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The claims of an experiment at scale paper over the time for which messages arrive, for each preset."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import fill

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from analysis.formatting import NOTHING, amount, markdown_table
from analysis.plots.canvas import WIDTH_INCHES, share_legend, styled
from analysis.plots.palette import OTHER_COLORS
from hosts.transport.congestion.presets import PRESETS
from reproduction.record import ClaimFinding
from reproduction.summaries import Summary, length_us_of

_COLUMNS = 3
_ROW_INCHES, _LEGEND_INCHES = 2.4, 0.6
_MARGIN = 1.15
_WIDTH, _SMALL = 46, 7
"""Characters of a claim in a line of a panel's title, and their size in points."""
_OVER_SEEDS = re.compile(r"; ([^;]*) over \d+ seeds$")
"""The range over the seeds at the end of a measured value."""


def over_durations(summaries: Sequence[Summary]) -> list[Summary]:
    """Return an experiment's summaries at scale paper, by preset and duration; none if there are fewer than two."""
    chosen = [summary for summary in summaries if summary.scale == "paper"]
    ordered = sorted(chosen, key=lambda summary: (PRESETS.index(summary.preset), length_us_of(summary)))
    return ordered if len(ordered) > 1 else []


def duration_table(summaries: Sequence[Summary]) -> str:
    """Return a table with the measured value and the outcome of each claim, one column per preset and duration."""
    rows = []
    for claim in dict.fromkeys(finding.claim for summary in summaries for finding in summary.claims):
        cells = []
        for summary in summaries:
            finding = next((finding for finding in summary.claims if finding.claim == claim), None)
            cells.append(_cell(finding) if finding else NOTHING)
        rows.append((claim, *cells))
    return markdown_table(("claim", *(_heading(summary) for summary in summaries)), rows)


def have_several_durations(summaries: Sequence[Summary]) -> bool:
    """Return whether the summaries differ in more than the preset."""
    return len(set(map(length_us_of, summaries))) > 1


def _heading(summary: Summary) -> str:
    length_us = length_us_of(summary)
    length = [f"{length_us / 1000:g} ms"] if length_us else []
    return ", ".join([summary.preset, *length, amount(len(summary.seeds), "seed")])


def _cell(finding: ClaimFinding) -> str:
    """Return the median, with several seeds the range, and the outcome."""
    over_seeds = _OVER_SEEDS.search(finding.measured)
    median = finding.measured[: over_seeds and over_seeds.start()].partition(" (")[0]
    return f"{median}{f' ({over_seeds[1]})' if over_seeds else ''}: {finding.outcome}"


@styled
def plot_durations(summaries: Sequence[Summary]) -> Figure:
    """Plot the value that decides each claim over the duration: a line per preset, a bar over the seeds."""
    claims = list(dict.fromkeys(finding.claim for summary in summaries for finding in summary.claims))
    rows = -(-len(claims) // _COLUMNS)
    figure = Figure(figsize=(WIDTH_INCHES, _ROW_INCHES * rows + _LEGEND_INCHES))
    FigureCanvasAgg(figure)
    for number, claim in enumerate(claims):
        panel = figure.add_subplot(rows, min(_COLUMNS, len(claims)), number + 1)
        panel.set_title(fill(claim, _WIDTH), fontsize=_SMALL)
        panel.set_xlabel("messages arrive for (ms)")
        for preset, color in zip(PRESETS, OTHER_COLORS, strict=False):
            points = [
                (length_us_of(summary) / 1000, finding.value, [value for value in finding.values if value is not None])
                for summary in summaries
                for finding in summary.claims
                if summary.preset == preset and finding.claim == claim and finding.value is not None
            ]
            if points:
                lengths, values, by_seed = zip(*points, strict=True)
                panel.plot(lengths, values, marker="o", color=color, label=preset)
                panel.vlines(lengths, [min(each) for each in by_seed], [max(each) for each in by_seed], color=color)
        panel.set_xlim(0, _MARGIN * max(map(length_us_of, summaries)) / 1000)
        panel.set_ylim(0, _MARGIN * panel.get_ylim()[1])
    share_legend(figure, columns=len(PRESETS))
    return figure
