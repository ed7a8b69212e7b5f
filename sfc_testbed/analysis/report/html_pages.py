# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes the reports of runs and comparisons: one self-contained HTML page each, with PNG and CSV files beside it.

All data are read from disk, so a report can be written again at any time, on any machine and by a newer release.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import jinja2
import numpy as np
import polars as pl
from markupsafe import Markup
from matplotlib.figure import Figure

from os_helpers.visible import visible
from sfc_testbed.analysis.formatting import flatten
from sfc_testbed.analysis.metrics.buffers import whole_buffers
from sfc_testbed.analysis.metrics.flows import ALL_CLASSES
from sfc_testbed.analysis.plots import run as plots
from sfc_testbed.analysis.plots.canvas import PlottedRun, write_png
from sfc_testbed.analysis.plots.congestion import plot_congestion, plot_congestion_compared
from sfc_testbed.analysis.plots.distributions import plot_distributions
from sfc_testbed.analysis.plots.goodput import plot_goodput
from sfc_testbed.analysis.plots.lateness import plot_lateness
from sfc_testbed.analysis.plots.svg import color_variables, to_svg
from sfc_testbed.analysis.report import first_sentence, page_tables
from sfc_testbed.analysis.report.physics import physics_tables
from sfc_testbed.analysis.results.comparison import Comparison, HeldClaim, compare, headline_class, write_comparison
from sfc_testbed.analysis.results.result import RESENT_REASONS, RESULT_FILE, RunResult, read_result
from sfc_testbed.analysis.results.stored import Run, known_config, load_run
from sfc_testbed.place import command_name
from sfc_testbed.request.spec import CONFIG_FILE
from sfc_testbed.telemetry.atomic_file import replace_file, replace_text
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.telemetry.schema import OPTIONAL_SCHEMAS, SCHEMAS

REPORT_FILE = "report.html"
TEMPLATES = Path(__file__).parent / "templates"

_DISTRIBUTIONS = (
    "CDFs of the high-water marks of all shared buffers, of the mean throughput per receiver (with several receivers), "
    "and of the feedback delay of BTS packets, from the congested switch and from the pause cache near the source."
)

FLOW_COLUMNS = ("flow_id", "dst", "tag", "size_bytes", "start_us", "finish_us", "slowdown", "paused_us")
"""The columns of flows that pages use; whole rows of millions of flows would take twice the memory."""

_CSV_FIGURES = ("flows", "completed", "p50", "p95", "p99", "p99_9", "mean", "max")


def write_run_report(folder: Path, *, pictures: bool = False) -> Path:
    """Write report.html and two CSV files into a run folder, and return the page's path.

    `pictures`: whether to write each figure as PNG, too. The page lists missing and damaged traces. Raises ResultError
    if result.json cannot be read.
    """
    run = load_run(folder, FLOW_COLUMNS)
    figures = run_figures(run)
    captions = {
        "congestion": "Congestion control of the largest flows: window, rate and round trip after acknowledgements.",
        "lateness": "Lateness of the latest frame in each interval. The limits apply to the P99 of all frames.",
        "buffer": "Buffer occupancy over time: maximum of each sampling interval.",
        "fct": "FCT slowdown by message size, and its CDF. Flows that did not complete keep a curve below 1.",
        "distributions": _DISTRIBUTIONS,
        "goodput": "Goodput over time: message bytes received per interval by all receivers of a traffic class.",
    }
    write_csv(folder / "fct_slowdown.csv", slowdown_rows(run.result))
    write_csv(folder / "buffer.csv", whole_buffers(run.queues).drop("port", "class"))
    html = render(
        "run.html.j2",
        result=run.result,
        first=first_sentence.of_run(run.result, run.flows),
        problems=run.problems,
        cards=page_tables.run_cards(run.result),
        plots=place_figures(folder, figures, captions, pictures=pictures),
        tables=[*page_tables.run_tables(run.result), *physics_tables(run.config)],
        settings=[*page_tables.setting_rows(run.result), *page_tables.program_rows(run.config)],
        configuration=[] if run.config is None else flatten(run.config.as_dict()).items(),
        command=run.command,
        files=_files(folder),
        result_json=run.result.to_json(),
    )
    replace_text(folder / REPORT_FILE, html)
    return folder / REPORT_FILE


def run_figures(run: Run) -> dict[str, Figure]:
    """Return the figures of a run's page by name."""
    scheme, traffic_class = run.result.scheme, headline_class(run.result)
    plotted = _plotted(scheme, run)
    figures = {
        "buffer": plots.plot_buffer(
            run.queues, scheme=scheme, thresholds_bytes=run.thresholds_bytes, faults=run.fault_spans
        ),
        "fct": plots.plot_fct(run.flows, scheme=scheme, traffic_class=traffic_class),
        "distributions": plot_distributions([plotted]),
        "goodput": plot_goodput([plotted]),
    }
    if run.lateness.height:
        base_rtt_us = run.result.base_rtt_us
        figures["lateness"] = plot_lateness(run.lateness, base_rtt_us=base_rtt_us, faults=run.fault_spans)
    if answer(run.congestion.head(1)).height:
        figures["congestion"] = plot_congestion(run.congestion, run.flows)
    return figures


def write_comparison_report(folders: Sequence[Path], out: Path, claims: Sequence[HeldClaim] = ()) -> Path:
    """Write the comparison of run folders into the folder `out` (created if missing) and return the page's path.

    Ratios are relative to the first run. PNG plots, comparison.csv and comparison.json are written beside the page.
    `claims`: claims about these runs.

    Raises ValueError if `folders` is empty, and ResultError if a result.json cannot be read.
    """
    results, comparison, runs = _compared(folders, claims)
    out.mkdir(parents=True, exist_ok=True)
    figures, captions = _comparison_figures(comparison, runs)
    labels = [row.label for row in comparison.rows]
    write_comparison(out, comparison, folders)
    write_csv(out / "comparison.csv", comparison_rows(comparison))
    html = render(
        "comparison.html.j2",
        comparison=comparison,
        first=first_sentence.of_comparison(comparison),
        claims=comparison.claim_rows,
        problems=[
            f"{row.label}: {text}" for row, run in zip(comparison.rows, runs, strict=True) for text in run.problems
        ],
        plots=place_figures(out, figures, captions),
        tables=[*page_tables.comparison_tables(comparison, results), *page_tables.program_tables(labels, runs)],
        runs=[
            run_row(out, row.label, run.folder, run.command, row.verdict)
            for row, run in zip(comparison.rows, runs, strict=True)
        ],
    )
    replace_text(out / REPORT_FILE, html)
    return out / REPORT_FILE


def comparison_figures(folders: Sequence[Path]) -> dict[str, Figure]:
    """Return the figures of the page of a comparison by name. Raises ResultError if a result.json cannot be read."""
    _, comparison, runs = _compared(folders, ())
    return _comparison_figures(comparison, runs)[0]


def _compared(folders: Sequence[Path], claims: Sequence[HeldClaim]) -> tuple[list[RunResult], Comparison, list[Run]]:
    """Return the results of some runs, their comparison, and the runs with the traces that plots show."""
    results = [read_result(folder) for folder in folders]
    comparison = compare(results, claims=claims, configs=[known_config(folder) for folder in folders])
    runs = [_loaded(folder, comparison, result) for folder, result in zip(folders, results, strict=True)]
    return results, comparison, runs


def slowdown_rows(result: RunResult) -> pl.DataFrame:
    """Return the slowdown of every class and size bin as a table. Rows for all sizes have null sizes."""
    rows: list[dict[str, object]] = []
    for name, figures in result.fct_slowdown.items():
        rows.append({"class": name, "low_bytes": None, "high_bytes": None} | _csv_figures(figures.model_dump()))
        for size_bin in result.fct_slowdown_by_size.get(name, ()):
            edges = {"low_bytes": size_bin.low_bytes, "high_bytes": size_bin.high_bytes}
            rows.append({"class": name} | edges | _csv_figures(size_bin.model_dump()))
    types = {name: pl.Int64 if name in ("flows", "completed") else pl.Float64 for name in _CSV_FIGURES}
    return pl.DataFrame(rows, schema={"class": pl.String, "low_bytes": pl.Int64, "high_bytes": pl.Int64, **types})


def write_csv(path: Path, frame: pl.DataFrame) -> None:
    """Write a CSV with a header row, atomically."""
    replace_file(path, frame.write_csv)


def _csv_figures(figures: dict[str, object]) -> dict[str, object]:
    return {name: figures[name] for name in _CSV_FIGURES}


def comparison_rows(comparison: Comparison) -> pl.DataFrame:
    """Return the figures of a comparison, one row per run."""
    rows = []
    for row in comparison.rows:
        values = row.model_dump(exclude={"ratios", "intervals", "resent_by_reason"})
        values |= {f"resent_{reason}": row.resent_by_reason.get(reason, 0) for reason in RESENT_REASONS}
        low, high = (
            {f"{name}_{end}": interval and interval[place] for name, interval in row.intervals.items()}
            for place, end in enumerate(("low", "high"))
        )
        rows.append(values | low | high | {f"{name}_ratio": ratio for name, ratio in row.ratios.items()})
    return pl.DataFrame(rows, infer_schema_length=None)


def _comparison_figures(comparison: Comparison, runs: Sequence[Run]) -> tuple[dict[str, Figure], dict[str, str]]:
    shown = _shown_in_plots(comparison, runs)
    plotted = [_plotted(label, run) for label, run in shown]
    classes = comparison.traffic_classes or (ALL_CLASSES,)
    faults = runs[0].fault_spans  # compared runs have the same faults
    figures = {
        **(
            {"beside_incast": plots.plot_beside_incast(plotted, comparison.traffic_class, faults=faults)}
            if comparison.has_incast  # this plot already shows the buffers of the most congested switches
            else {"buffer": plots.plot_buffers_compared(plotted, faults=faults)}
        ),
        "fct_by_size": plots.plot_fct_by_size_compared(plotted, comparison.traffic_class),
        "fct": plots.plot_fct_compared(plotted, classes),
        "distributions": plot_distributions(plotted),
    }
    if any(answer(run.congestion.head(1)).height for _, run in shown):
        figures |= {f"cc_{name}": figure for name, figure in plot_congestion_compared(plotted).items()}
    if not any(np.size(line.get_xdata()) > 1 for axes in figures["fct_by_size"].axes for line in axes.lines):
        del figures["fct_by_size"]  # flows too few for the tail of any size, or all of one size
    captions = {
        "beside_incast": f"Effect of the incast on {comparison.traffic_class} flows: the fraction of flows with a "
        "higher slowdown than the value on the axis, and the buffer of each run's most congested switch.",
        "buffer": "Buffer of each run's most congested switch: maximum of each sampling interval.",
        "fct_by_size": "Tail FCT slowdown by message size; a point is missing where too few flows completed.",
        "fct": "CDF of FCT slowdown. Flows that did not complete keep a curve below 1.",
        "distributions": _DISTRIBUTIONS,
        "cc_window": "Congestion window of the largest flows over time: the limit on their bytes in flight.",
        "cc_rate": "Sending rate of the largest flows over time, as set by congestion control.",
        "cc_round_trip": "RTT of the largest flows over time, one sample per acknowledgement.",
    }
    return figures, captions


def _is_in_plots(comparison: Comparison, result: RunResult) -> bool:
    """Return whether the plots show a run. With several seeds, they show the first seed only."""
    return not comparison.over_seeds or result.seed == comparison.over_seeds[0].seeds[0]


def _loaded(folder: Path, comparison: Comparison, result: RunResult) -> Run:
    """Load a run, with traces only if a plot shows them: traces of all seeds would not fit in memory."""
    run = load_run(folder, FLOW_COLUMNS)
    return run if _is_in_plots(comparison, result) else run.without_traces()


def _shown_in_plots(comparison: Comparison, runs: Sequence[Run]) -> list[tuple[str, Run]]:
    """Return the runs in the plots with their labels; with several seeds, the label has no seed."""
    return [
        (row.variant if comparison.over_seeds else row.label, run)
        for row, run in zip(comparison.rows, runs, strict=True)
        if _is_in_plots(comparison, run.result)
    ]


def _plotted(label: str, run: Run) -> PlottedRun:
    return PlottedRun(
        label,
        run.result.scheme,
        run.flows,
        run.queues,
        run.signals,
        run.goodput,
        run.congestion,
        run.result.measured_window_us,
        run.fault_spans,
    )


def place_figures(
    folder: Path, figures: dict[str, Figure], captions: dict[str, str], *, pictures: bool = True
) -> list[dict[str, object]]:
    """Return each figure as SVG for the page, and write it as PNG if `pictures` is set."""
    placed: list[dict[str, object]] = []
    for name, figure in figures.items():
        file_name = f"{name}.png" if pictures else None
        if file_name is not None:
            write_png(figure, folder / file_name)
        svg = to_svg(figure, name=name.replace("_", "-"), description=visible(captions[name]))
        placed.append({"svg": Markup(svg), "caption": captions[name], "png": file_name})
    return placed


def _files(folder: Path) -> list[str]:
    """Return the names of the run's existing files, most important first."""
    names = (
        RESULT_FILE,
        CONFIG_FILE,
        *(schema.file_name for schema in (*SCHEMAS.values(), *OPTIONAL_SCHEMAS.values())),
        "fct_slowdown.csv",
        "buffer.csv",
        "buffer.png",
        "fct.png",
        "distributions.png",
        "goodput.png",
        "lateness.png",
        "congestion.png",
        "logs",
        "pcaps",
    )
    return [name for name in names if (folder / name).exists()]


def run_row(out: Path, label: str, folder: Path, command: str, verdict: str) -> dict[str, object]:
    """Return a run's row in a list of runs; `link` is None if the run has no page yet."""
    link = relative_link(out, folder) if (folder / REPORT_FILE).exists() else None
    return {"label": label, "folder": folder.name, "command": command, "verdict": verdict, "link": link}


def relative_link(out: Path, folder: Path) -> str:
    """Return the relative address of a run's page for a page in `out`, with quoted special characters."""
    return quote(Path(os.path.relpath(folder / REPORT_FILE, out)).as_posix(), safe="/+,=@")


def _visible_value(value: object) -> object:
    """Return a value for a template. In texts, control characters except line ends are replaced by escapes."""
    return visible(value, keep="\n\t") if isinstance(value, str) and not isinstance(value, Markup) else value


def render(template: str, **content: object) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible_value,
    )
    environment.globals["is_wide"] = page_tables.is_wide
    environment.globals["testbed_command"] = command_name()
    return environment.get_template(template).render(**content, plot_colors=Markup(color_variables()))
