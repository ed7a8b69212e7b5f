# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a file of `--use` calls to add what is computed from results: plots, sections of pages, quantities, claims and
export formats (docs/extensions.md).

Each function adds a row to the same table that has the testbed's own rows. Functions of users get results as
`sfc.load` returns them. This module loads nothing slow, because hosts of live runs load extensions too.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import count
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sfc_testbed.analysis.formatting import format_number
from sfc_testbed.analysis.report.data_table import DataTable
from sfc_testbed.analysis.report.plots import PLOTS, TRACES, Page, PagePlot
from sfc_testbed.analysis.report.sections import SECTIONS, Section
from sfc_testbed.analysis.results.quantities import QUANTITIES, NotMeasured, Quantity
from sfc_testbed.reproduction.model.claims import CLAIMS, is_claim
from sfc_testbed.request.arguments import checked_call
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.extensions import described, owner
from sfc_testbed.request.shown import nearest, shown
from sfc_testbed.testbed.execution.export_formats import EXPORT_FORMATS, Exported, ExportFormat

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sfc_testbed.analysis.plots.description import Plot
    from sfc_testbed.analysis.results.stored import Run as StoredRun
    from sfc_testbed.api.run import Run
    from sfc_testbed.reproduction.model.experiment import Claim

Function = TypeVar("Function", bound=Callable[..., Any])
_numbers = count(1)


def _returned(function: Callable[..., Any], value: object, expected: str) -> TypeError:
    """Return the error for a function that returned a wrong value. The text names the function's file and line."""
    code = getattr(function, "__code__", None)
    place = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
    return TypeError(f"the function returned {shown(value)} instead of {expected}{place}")


@checked_call
def plot(name: str, caption: str, *, page: Page = "run", needs: Sequence[str] = ()) -> Callable[[Function], Function]:
    """Add a plot to the pages of runs, comparisons or sweeps, and to `Run.plot()` and the like.

    The function gets the Run; on page "comparison", the runs by label; on page "sweep", the Sweep. It returns a figure
    of matplotlib or its axes, a Plot of `sfc_testbed.analysis.plots.description`, or None to leave the plot out. If it
    has a second parameter, it gets axes to draw on.
    `needs`: names of traces without which the plot is left out, such as "cc".
    """

    def added(function: Function) -> Function:
        _check(function, _on(page), name, "plot")
        unknown = [trace for trace in needs if trace not in TRACES]
        if unknown:
            near = nearest(str(unknown[0]), TRACES)
            raise UsageError(f"plot {shown(name)}: no trace {shown(unknown[0])}; choose from {', '.join(TRACES)}{near}")
        row: PagePlot[Any] = PagePlot(caption, lambda content: _drawn(function, _given(content)), needs)
        PLOTS[page].add(name, row, owner())
        return function

    return added


@checked_call
def section(name: str, title: str = "", *, page: Page = "run") -> Callable[[Function], Function]:
    """Add a section to the pages of runs, comparisons or sweeps.

    The function gets the same as that of a plot. It returns a text, whose paragraphs empty lines separate; a table, as
    a polars frame or as headings and rows; or None to leave the section out.
    """

    def added(function: Function) -> Function:
        _check(function, _on(page), name, "section")
        row: Section[Any] = Section(lambda content: _table(title or name, function, _given(content)))
        SECTIONS[page].add(name, row, owner())
        return function

    return added


@checked_call
def quantity(name: str, unit: str = "") -> Callable[[Callable[[Run], float | None]], Quantity]:
    """Add a quantity of runs: a column of sweeps and comparisons, an entry of `Run.quantities`, and usable in claims.

    The function returns a number, or None if the run has too little data. The decorator returns a quantity for claims.
    """

    def added(function: Callable[[Run], float | None]) -> Quantity:
        _check(function, "", name, "quantity")
        after = f" {unit}" if unit else ""

        def measure(run: StoredRun) -> float:
            value = function(_run(run))
            if value is None:
                raise NotMeasured(f"{name}: the run has too little data")
            if not isinstance(value, Real):
                raise _returned(function, value, "a number or None")
            return float(value)

        row = Quantity(name, measure, lambda value: f"{format_number(value)}{after}", unit)
        QUANTITIES.add(name, row, owner())
        return row

    return added


def claims(*claimed: Claim) -> None:
    """Add claims, which `compare` and `report RUN RUN...` check for their runs, like those of `--claims`."""
    for claim in claimed:
        if not is_claim(claim):
            raise UsageError(f"claims: {shown(claim)} is not a claim, such as sfc.Bound(...) or sfc.Ratio(...)")
    CLAIMS.add(f"claims-{next(_numbers)}", claimed, owner())


@checked_call
def export_format(name: str, summary: str = "") -> Callable[[Function], Function]:
    """Add a format of `export --format`. The function gets the Run and a folder, and returns the paths that it wrote.

    Without `--out`, the folder is in the run folder and has the format's name.
    """

    def added(function: Function) -> Function:
        _check(function, "", name, "export format")
        EXPORT_FORMATS.add(name, ExportFormat(summary or name, partial(_exported, name, function)), owner())
        return function

    return added


def _on(page: str) -> str:
    return "" if page in PLOTS else f"no page {shown(page)}; choose from {', '.join(PLOTS)}"


def _check(function: object, problem: str, name: str, kind: str) -> None:
    if problem:
        raise UsageError(f"{kind} {shown(name)}: {problem}")
    if not callable(function):
        raise UsageError(f"{kind} {shown(name)}: {shown(function)} is not a function")


def _run(stored: Any) -> Run:
    from sfc_testbed.api.run import Run  # needed by processes that measure or draw only

    return Run(stored.folder, stored.result)


def _given(content: Any) -> object:
    """Return the content of a page as `sfc.load` would: a Run, runs by label, or a Sweep."""
    from sfc_testbed.analysis.report.plots import ComparedRuns
    from sfc_testbed.analysis.results.swept import Sweep as StoredSweep

    if isinstance(content, ComparedRuns):
        return {label: _run(run) for label, run in zip(content.labels, content.runs, strict=True)}
    if isinstance(content, StoredSweep):
        from sfc_testbed.api.sweep import Sweep

        return Sweep(content.folder)
    return _run(content)


def _drawn(function: Callable[..., Any], given: object) -> Plot | Figure | None:
    """Return the plot of a function; a figure in the style of the testbed. TypeError if it returns something else."""
    from matplotlib.figure import Figure

    from sfc_testbed.analysis.plots.canvas import new_figure, plot_style, styled
    from sfc_testbed.analysis.plots.description import Plot

    with plot_style():
        if _wants_axes(function):
            figure, [axes] = new_figure()
            function(given, axes)
            made: Any = figure
        else:
            made = function(given)
            made = getattr(made, "figure", made)
    if made is None or isinstance(made, Plot):
        return made
    if not isinstance(made, Figure):
        raise _returned(function, made, "a figure of matplotlib, a Plot or None")
    return styled(lambda: made)()


def _wants_axes(function: Callable[..., Any]) -> bool:
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return len([one for one in parameters if one.kind in positional and one.default is one.empty]) > 1


def _table(title: str, function: Callable[..., Any], given: object) -> DataTable | None:
    """Return the section that a function makes."""
    made = function(given)
    if made is None:
        return None
    if isinstance(made, str):
        return DataTable(title, (), (), made)
    polars: Any = sys.modules.get("polars")
    if polars is not None and isinstance(made, polars.DataFrame):
        made = (made.columns, made.rows())
    try:
        headings, rows = made
        cells = [[_cell(value) for value in row] for row in rows]
        if any(len(row) != len(headings) for row in cells):
            raise ValueError
    except (TypeError, ValueError):
        raise _returned(function, made, "a text, a polars frame, or headings and rows") from None
    return DataTable(title, [str(heading) for heading in headings], cells)


def _cell(value: object) -> str:
    return format_number(value) if value is None or isinstance(value, float) else str(value)


def _exported(name: str, function: Callable[..., Any], run: Path, out: Path | None) -> Exported:
    from sfc_testbed.analysis.results.result import read_result
    from sfc_testbed.api.run import Run
    from sfc_testbed.telemetry.atomic_file import check_no_link

    result = read_result(run)
    folder = out or run / name
    if out is None:
        check_no_link(folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        written = function(Run(run, result), folder)
        paths = _paths(folder, written)
    except (Exception, SystemExit) as error:
        raise UsageError(f"{run}: export {name} failed: {described(error)}") from error
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise UsageError(f"{run}: export {name} returned {missing[0]}, which does not exist")
    return Exported(paths)


def _paths(folder: Path, written: str | PathLike[str] | Iterable[str | PathLike[str]] | None) -> list[Path]:
    """Return the paths that an export returned; without any, the files in its folder."""
    if written is None:
        return sorted(path for path in folder.rglob("*") if path.is_file())
    if isinstance(written, (str, PathLike)):
        return [Path(written)]
    return [Path(path) for path in written]
