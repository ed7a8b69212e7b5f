# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes the reports of runs and comparisons: one self-contained HTML page each, with CSV files beside it.

All data are read from disk, so a report can be written again at any time, on any machine and by a newer release.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import jinja2
import polars as pl
from markupsafe import Markup

from os_helpers.cache import CacheRefused, private_cache
from os_helpers.visible import visible
from sfc_testbed.analysis.formatting import flatten
from sfc_testbed.analysis.plots.palette import color_variables
from sfc_testbed.analysis.report import first_sentence, page_tables
from sfc_testbed.analysis.report.data_table import column_kind, is_wide, sort_value
from sfc_testbed.analysis.report.placing import (
    Placed,
    PlacedSections,
    figures_of,
    on_page,
    placed_plots,
    placed_sections,
)
from sfc_testbed.analysis.report.plot_data import write_page
from sfc_testbed.analysis.report.plots import COMPARISON_PLOTS, RUN_PLOTS, ComparedRuns
from sfc_testbed.analysis.report.sections import COMPARISON_SECTIONS, RUN_SECTIONS
from sfc_testbed.analysis.results.quantities import Measurements, measured_in
from sfc_testbed.analysis.results.result import RESENT_REASONS, RESULT_FILE, RunResult, read_result
from sfc_testbed.analysis.results.stored import Run, known_config, load_run
from sfc_testbed.place import command_name
from sfc_testbed.request.spec import CONFIG_FILE
from sfc_testbed.telemetry.atomic_file import replace_file
from sfc_testbed.telemetry.schema import OPTIONAL_SCHEMAS, SCHEMAS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sfc_testbed.analysis.results.comparison import Comparison, HeldClaim

REPORT_FILE = "report.html"
WATCH_FILE = "watch.html"
"""The page that plays the run or the compared runs, beside their report."""
TEMPLATES = Path(__file__).parent / "templates"

FLOW_COLUMNS = ("flow_id", "dst", "tag", "size_bytes", "start_us", "finish_us", "slowdown", "paused_us")
"""The columns of flows that pages use; whole rows of millions of flows would take twice the memory."""


def write_run_report(folder: Path, *, pictures: bool = False, failures: list[str] | None = None) -> Path:
    """Write report.html and two CSV files into a run folder, and return the page's path.

    `pictures`: whether to write each plot as PNG and SVG, too. The page lists missing and damaged traces, and it says
    which plots and sections of extensions failed; these sentences are appended to `failures`. Raises ResultError if
    result.json cannot be read.
    """
    run = load_run(folder, FLOW_COLUMNS)
    placed = placed_plots(RUN_PLOTS, run, [run])
    for name, rows in _data_files().items():
        write_csv(folder / name, rows(run))
    sections = placed_sections(RUN_SECTIONS, run)
    html = render(
        "run.html.j2",
        result=run.result,
        first=first_sentence.of_run(run.result, run.flows),
        problems=run.problems,
        cards=page_tables.run_cards(run.result),
        plots=on_page(folder, placed, pictures=pictures),
        tables=sections.tables,
        settings=[*page_tables.setting_rows(run.result), *page_tables.program_rows(run.config)],
        configuration=[] if run.config is None else flatten(run.config.as_dict()).items(),
        command=run.command,
        files=_files(folder),
        result_json=run.result.to_json(),
    )
    write_page(folder / REPORT_FILE, html)
    _note_failures(failures, placed, sections)
    return folder / REPORT_FILE


def run_figures(run: Run) -> dict[str, Figure]:
    """Return the plots of a run's page as figures of matplotlib. A plot of an extension that fails is a warning."""
    return figures_of(placed_plots(RUN_PLOTS, run, [run]))


def write_comparison_report(
    folders: Sequence[Path],
    out: Path,
    claims: Sequence[HeldClaim] = (),
    quantities: Sequence[Measurements] | None = None,
    failures: list[str] | None = None,
    *,
    pictures: bool = False,
) -> Path:
    """Write the comparison of run folders into the folder `out` (created if missing) and return the page's path.

    Ratios are relative to the first run. comparison.csv and comparison.json are written beside the page. `pictures`:
    whether to write each plot as PNG and SVG, too. `claims`: claims about these runs. `quantities`: the quantities of
    extensions in each run, which are measured unless they are given. Sentences about plots and sections of extensions
    that failed are appended to `failures`.

    Raises ValueError if `folders` is empty, and ResultError if a result.json cannot be read.
    """
    from sfc_testbed.analysis.results.comparison import write_comparison

    compared = _compared(folders, claims, measured_in(folders) if quantities is None else quantities)
    comparison = compared.comparison
    out.mkdir(parents=True, exist_ok=True)
    placed = placed_plots(COMPARISON_PLOTS, compared, [run for _, run in compared.shown])
    sections = placed_sections(COMPARISON_SECTIONS, compared)
    write_comparison(out, comparison, folders)
    write_csv(out / "comparison.csv", comparison_rows(comparison))
    html = render(
        "comparison.html.j2",
        comparison=comparison,
        first=first_sentence.of_comparison(comparison),
        claims=comparison.claim_rows,
        has_watch_page=(out / WATCH_FILE).is_file(),
        problems=[
            f"{row.label}: {text}"
            for row, run in zip(comparison.rows, compared.runs, strict=True)
            for text in run.problems
        ],
        plots=on_page(out, placed, pictures=pictures),
        tables=sections.tables,
        runs=[
            run_row(out, row.label, run.folder, run.command, row.verdict)
            for row, run in zip(comparison.rows, compared.runs, strict=True)
        ],
    )
    write_page(out / REPORT_FILE, html)
    _note_failures(failures, placed, sections)
    return out / REPORT_FILE


def _note_failures(failures: list[str] | None, placed: Sequence[Placed], sections: PlacedSections) -> None:
    if failures is not None:
        failures += [*(plot.failure for plot in placed if plot.failure), *sections.failures]


def comparison_figures(folders: Sequence[Path]) -> dict[str, Figure]:
    """Return the plots of the page of a comparison by name, as figures of matplotlib.

    A plot of an extension that fails is a warning. Raises ResultError if a result.json cannot be read.
    """
    compared = _compared(folders, (), ())
    return figures_of(placed_plots(COMPARISON_PLOTS, compared, [run for _, run in compared.shown]))


def _compared(folders: Sequence[Path], claims: Sequence[HeldClaim], quantities: Sequence[Measurements]) -> ComparedRuns:
    """Return the comparison of some runs, and the runs with the traces that plots show."""
    from sfc_testbed.analysis.results.comparison import compare  # the page of a run does without

    results = [read_result(folder) for folder in folders]
    configs = [known_config(folder) for folder in folders]
    comparison = compare(results, claims=claims, configs=configs, quantities=quantities)
    runs = [_loaded(folder, comparison, result) for folder, result in zip(folders, results, strict=True)]
    return ComparedRuns(comparison, results, runs, _shown_in_plots(comparison, runs))


def write_csv(path: Path, frame: pl.DataFrame) -> None:
    """Write a CSV with a header row, atomically."""
    replace_file(path, frame.write_csv)


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


def _data_files() -> dict[str, Callable[[Run], pl.DataFrame]]:
    """Return the CSV files of the run's plots. The last plot's come first, as on the pages of earlier releases."""
    return {name: rows for row in reversed([*RUN_PLOTS.values()]) for name, rows in row.data.items()}


def _files(folder: Path) -> list[str]:
    """Return the names of the run's existing files, most important first."""
    names = (
        RESULT_FILE,
        CONFIG_FILE,
        *(schema.file_name for schema in (*SCHEMAS.values(), *OPTIONAL_SCHEMAS.values())),
        WATCH_FILE,
        *_data_files(),
        *(f"{name}.{kind}" for name in RUN_PLOTS for kind in ("png", "svg")),
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


def _bytecode_cache() -> jinja2.BytecodeCache | None:
    """Return the cache of compiled templates; None if the user has no cache that only the user can change."""
    with suppress(CacheRefused, OSError):
        folder = private_cache() / "templates"
        folder.mkdir(mode=0o700, exist_ok=True)
        return jinja2.FileSystemBytecodeCache(str(folder))
    return None


def _column_kinds(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the attribute of each column's cells that selects their style; empty for figures."""
    columns = zip(headings, zip(*rows, strict=True), strict=True)
    kinds = (column_kind(heading, cells) for heading, cells in columns)
    return [Markup(f' class="{kind}"') if kind else "" for kind in kinds]


def _sort_key(cell: str) -> str:
    """Return the attribute of a cell by whose number a table is sorted; empty if the text is enough."""
    value = sort_value(cell)
    return "" if value is None else Markup(f' data-value="{value:.10g}"')


def render(template: str, **content: object) -> str:
    """Return a page for `write_page`, which adds the scripts of plots."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_visible_value,
        bytecode_cache=_bytecode_cache(),
    )
    environment.globals |= {"is_wide": is_wide, "sort_key": _sort_key, "column_kinds": _column_kinds}
    environment.globals["testbed_command"] = command_name()
    return environment.get_template(template).render(**content, plot_colors=Markup(color_variables()))
