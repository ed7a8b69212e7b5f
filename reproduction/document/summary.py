# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The summary page of the reproduction: all claims, one table of outcomes, and how to read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from analysis.formatting import NOTHING, amount, markdown_table
from analysis.results.outcome import brief_tally
from hosts.transport.congestion.presets import DEFAULT_PRESET, PRESETS
from reproduction.document.parts import SOURCE, Pictures, figure_lines, outcome_of, outcomes_of, tally_of, wall_times
from reproduction.summaries import SCALES, Summary, longest, own_arrivals_us

_START = """\
# Reproducing the paper

This command runs every experiment of the paper's evaluation at the smallest scale, in virtual time:

```sh
./runner.py reproduce all --scale ci --seeds 1..3
```

To run a single figure, replace `all` by the name of an experiment in the table below. The scales `laptop` and `paper`
are larger. At scale laptop `signaling` runs live on Mininet, which needs root. Every experiment writes a folder with a
page, `report.html`, and the findings, `reproduction.json`.
"""
_PATHS = "../decisions/0012-paths-by-flow-and-seed.md"
_PATHS_CHANGED = "20261128"
_ONE_PATH = ("signaling", "fairness", "theory")
"""Experiments whose flows have only one path."""
_READING = """\
## How to read the results

Every number was measured in a run. With the same seed, the virtual clock gives the same numbers again. Each experiment
is one figure or table of the paper, except `rivals`, which tests what section 2 says in words. Its page has the claims
with the paper's numbers and ours, our plot on the paper's axes, and the commands that repeat it. Where a claim does not
hold, the page gives a reason and the runs that tested this reason, even if they refute it. Figures are numbered as in
the paper's LaTeX source. Figs. 3, 4 and 17 are drawings.

With several seeds a claim holds (with every seed), fails (with every seed), or depends on the seed. The measured value
is the median of the seeds, followed by the range; with an even number of seeds, the larger of the two middle values.
A claim is *ours* if our set-up decides it, or if it tests
our simulator. A range of the paper, such as "2x to 6x", has two ends: a larger gain is outside, too.

The paper takes the parameters of HPCC and DCQCN "from the HPCC simulator", which has two sets. The default is that of
`run.py`, which writes the simulator's configurations; `mix/config.txt` is an example beside it. To use this one, add
`--set 'transport.congestion_parameters={"preset": "mix/config.txt"}'`. The sets differ above all in the minimum rate,
1 Gb/s and 100 Mb/s. 128 senders at 1 Gb/s exceed a link of 100 Gb/s, so congestion control alone cannot let the link
of an incast come to rest. With 31 and 63 senders, at scales ci and laptop, they cannot exceed it, and the sets hardly
differ.

In the tables, `0.5x (2 MB vs. 4 MB)` is a ratio with its two values. "Worst of 3 points" names the point of the sweep
that is nearest to failing the claim, or that fails it most. "Peak buffer" is the largest shared buffer of any switch.
"Steady buffer" is the mean buffer of the fullest switch over the middle half of the time in which flows are active.

The settings were not fixed before the first results were known. These were changed afterwards:

- **Scale ci.** About half of the claims failed at first, mostly because there were too few senders or no incast at all.
  Incast degrees, incast spacing and packet size were changed. In `synchronization` and `resources` they were changed
  once more, which changed the outcome of one claim in each. Scale laptop follows the same rule and was not changed.
- **`theory`.** At first the claims needed tolerances of up to 6 packets. The thresholds and the ideal pause were then
  set as the formulas assume.
- **`testbed-incast`.** The claims that state the plateau as a formula were added when it was known why the plateau is
  not at the paper's 3 MB.
- **OnRamp.** Its rule was corrected because at first it had no effect under any congestion control.
- **Margins.** Slopes and "meaningful" gains got margins because a difference of 1 % had counted as holding.
- **Mechanisms.** Last of all, mechanisms in [the paper, mechanism by mechanism](../paper.md) were changed: the
  estimator, the timer of the suppression filter, the granularity of pauses, the time to build a BTS, and the priority
  of acknowledgements. More claims fail since then. No setting was changed in response.
- **Wording.** The claims were then restated in the paper's words, before the runs of this page: ranges with two ends,
  R² of 0.9 everywhere, 5 % for "exactly", claims that our set-up decides labelled as ours, and claims added that had
  been missing. In `fairness` the senders of a group now start within 100 us, the paper's default. In `testbed-incast`
  and `testbed-hol` DCQCN sets windows of at least one packet, as the paper says of its NICs. Decision 11 lists
  all claims [before and after](../decisions/0011-claims-in-the-papers-words.md).
"""
_COST = """\
## Run times at scale paper

At scale paper every network has the paper's size. The paper does not say for how long messages arrive in its
simulations. They arrive for our default time, or for a shorter time (`--set arrivals_us`). Each run was one process,
and two runs shared two cores with other work, so the times include waiting.
"""


def summary_page(by_experiment: Mapping[str, Sequence[Summary]], pictures: Pictures) -> str:
    by_experiment = {name: longest(places) for name, places in by_experiment.items()}
    summaries = [summary for scales in by_experiment.values() for summary in scales]
    parts = [SOURCE + _START, _result(summaries), _overview(by_experiment), _READING, "## Claims and figures\n"]
    parts += [_claims(name, scales, pictures) for name, scales in by_experiment.items()]
    return "\n".join([*parts, *_cost(summaries)])


def _result(summaries: Sequence[Summary]) -> str:
    """Say how many claims hold at each scale, and whether all runs are faithful."""
    unsound = [summary for summary in summaries if set(summary.verdicts) != {"faithful"}]
    exceptions = ", ".join(f"{summary.experiment} at {summary.heading}" for summary in unsound)
    runs = sum(summary.runs for summary in summaries)
    trust = (
        f"Some of the {runs:,} runs are not faithful: {exceptions}." if unsound else f"All {runs:,} runs are faithful."
    )
    lines = [f"- {column} ({_seeds(chosen)}): {tally_of(chosen)}" for column, chosen in _by_column(summaries).items()]
    return "\n".join(["**Outcomes of the claims:**", "", *lines, "", trust, *_with_former_paths(summaries), ""])


def _with_former_paths(summaries: Sequence[Summary]) -> list[str]:
    """Return a sentence that names the findings from before a flow's path was independent of its scheme."""
    places: dict[str, list[str]] = {}
    for summary in summaries:
        if summary.made < _PATHS_CHANGED and summary.experiment not in _ONE_PATH:
            arrivals = "" if summary.arrivals_us is None else f" {summary.arrivals_us / 1000:g} ms"
            places.setdefault(f"{summary.column}{arrivals}", []).append(summary.experiment)
    if not places:
        return []
    listed = "; ".join(f"{place}: {', '.join(names)}" for place, names in places.items())
    return ["", f"Made before [paths depended on the seed]({_PATHS}), and not made again: {listed}."]


def _seeds(summaries: Sequence[Summary]) -> str:
    """Return how many seeds the findings are based on, such as `1 seed`, or `3 to 5 seeds`."""
    low, high = (pick(len(summary.seeds) for summary in summaries) for pick in (min, max))
    return amount(high, "seed") if low == high else f"{low} to {high} seeds"


def _by_column(summaries: Sequence[Summary]) -> dict[str, list[Summary]]:
    """Return the summaries by the column of a table that they belong to, in the order of scales and presets."""
    ordered = sorted(summaries, key=lambda summary: (SCALES.index(summary.scale), PRESETS.index(summary.preset)))
    columns: dict[str, list[Summary]] = {}
    for summary in ordered:
        columns.setdefault(summary.column, []).append(summary)
    return columns


def _overview(by_experiment: Mapping[str, Sequence[Summary]]) -> str:
    """Return a table of the outcomes, one row per experiment and one column per scale and preset."""
    columns = _by_column([summary for places in by_experiment.values() for summary in places])
    rows = []
    for name, places in by_experiment.items():
        own = _by_column(places)
        counts = (brief_tally(outcomes_of(own.get(column, ()))) or NOTHING for column in columns)
        rows.append((places[0].paper_place, f"[{name}]({name}.md)", places[0].title, *counts))
    return markdown_table(("figure", "experiment", "topic", *columns), rows)


def _claims(name: str, scales: Sequence[Summary], pictures: Pictures) -> str:
    """Return an experiment's section of the summary page: the figure of the largest scale, and every claim."""
    columns = {column: summary for column, [summary] in _by_column(scales).items()}
    largest = [summary for summary in scales if summary.preset == DEFAULT_PRESET][-1]
    lines = [f"### {name}", "", f"{largest.paper_place}: {largest.title}. [Details and commands]({name}.md)."]
    lines += figure_lines(
        next((summary for summary in reversed(scales) if summary.place in pictures), largest), pictures
    )
    findings = {column: {finding.claim: finding for finding in place.claims} for column, place in columns.items()}
    rows = []
    for claim in dict.fromkeys(claim for by_claim in findings.values() for claim in by_claim):
        outcomes = (outcome_of(by_claim.get(claim)) for by_claim in findings.values())
        measured = findings[largest.column].get(claim)
        rows.append((claim, *outcomes, measured.measured if measured else NOTHING))
    headings = ("claim", *columns, f"measured at {largest.heading}")
    return "\n".join([*lines, "", markdown_table(headings, rows)])


def _cost(summaries: Sequence[Summary]) -> list[str]:
    """Return the section on run times: one row per experiment at scale paper whose run times are known."""
    rows = []
    for summary in summaries:
        scale_us = own_arrivals_us(summary.experiment, summary.scale)
        if summary.scale == "paper" and summary.walls_s:
            lengths = (NOTHING, NOTHING)
            if scale_us is not None:
                lengths = (f"{_arrivals_us(summary) / 1000:g}", f"{scale_us / 1000:g}")
            link = f"[{summary.experiment}]({summary.experiment}.md)"
            rows.append((link, *lengths, str(summary.runs), *wall_times(summary)))
    headings = ("experiment", "messages arrive for, ms", "our default, ms", "runs", "time per run", "total time")
    return [_COST, markdown_table(headings, rows)] if rows else []


def _arrivals_us(summary: Summary) -> float:
    scale_us = own_arrivals_us(summary.experiment, summary.scale) or 0.0
    return scale_us if summary.arrivals_us is None else summary.arrivals_us
