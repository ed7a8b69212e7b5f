# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The results of a sweep: one row per job, means over seeds as a table, and plots over the axes."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from sfc_testbed.api.errors import public_errors
from sfc_testbed.api.run import Run
from sfc_testbed.request.arguments import checked_call

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from sfc_testbed.analysis.results.swept import Sweep as StoredSweep
    from sfc_testbed.api.plots import Plots
    from sfc_testbed.api.tables import Table

_JOBS = "jobs"


class Sweep:
    """A sweep in a folder. Its files are read when they are first needed."""

    def __init__(self, folder: Path, failures: tuple[str, ...] = ()) -> None:
        self.folder = folder
        """The folder with the table of results and the folder `jobs` of the runs."""
        self.failures = failures
        """A text for each job of this call that has no result."""

    @cached_property
    def _stored(self) -> StoredSweep:
        from sfc_testbed.analysis.results.swept import read_sweep_results

        with public_errors():
            return read_sweep_results(self.folder)

    @property
    def results(self) -> pl.DataFrame:
        """One row per job: the values of the axes (`axis.NAME`), the seed and all figures."""
        return self._stored.table

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the swept settings."""
        return self._stored.axes

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The distinct runs; jobs that differ only in settings that their scheme does not read share one."""
        return tuple(Run(self.folder / _JOBS / job) for job in self._stored.runs["job"].to_list())

    def table(self) -> Table:
        """Return the means over seeds, with one row per scheme and place on the axes."""
        import polars as pl
        from rich.box import SIMPLE_HEAD
        from rich.table import Table as RichTable
        from rich.text import Text

        from sfc_testbed.analysis.plots.over_axes import place_text
        from sfc_testbed.analysis.report.over_axes import averaged, means_of
        from sfc_testbed.analysis.report.terminal_tables import format_estimate
        from sfc_testbed.analysis.terminal import Fitted
        from sfc_testbed.api.tables import Table

        stored = self._stored
        title = Text(f"{stored.name}: {stored.scenario}")
        main = RichTable(title=title, title_style="bold", box=SIMPLE_HEAD, pad_edge=False)
        main.add_column("scheme")
        for heading in (*stored.axes, "seeds", *averaged(stored).values()):
            main.add_column(heading, justify="right")
        rows: list[dict[str, Any]] = []
        for means in means_of(stored):
            shown = (format_estimate(name, figure) for name, figure in means.figures.items())
            main.add_row(*map(Text, [means.scheme, *map(place_text, means.place), str(means.seeds), *shown]))
            row = {"scheme": means.scheme, **dict(zip(stored.axes, means.place, strict=True)), "seeds": means.seeds}
            for name, figure in means.figures.items():
                low, high = (figure and figure.interval) or (None, None)
                row |= {name: figure and figure.mean, f"{name}_low": low, f"{name}_high": high}
            rows.append(row)
        frame = pl.DataFrame(rows, infer_schema_length=None)
        return Table(Fitted(main, keys=1 + len(stored.axes)), main, frame)

    @overload
    def plot(self, name: None = None) -> Plots: ...

    @overload
    def plot(self, name: str) -> Figure: ...

    @checked_call
    def plot(self, name: str | None = None) -> Plots | Figure:
        """Return the figures of the page, or the named one, such as `over-degree`. UsageError for an unknown name."""
        from sfc_testbed.analysis.report.sweep import sweep_figures
        from sfc_testbed.api.plots import chosen

        with public_errors():
            return chosen(sweep_figures(self._stored), name)

    def page(self) -> Path:
        """Return the report page of the sweep, which is drawn if it is missing."""
        from sfc_testbed.analysis.report.html_pages import REPORT_FILE
        from sfc_testbed.analysis.report.sweep import write_sweep_page

        page = self.folder / REPORT_FILE
        with public_errors(self.folder):
            return page if page.is_file() else write_sweep_page(self.folder)

    def __repr__(self) -> str:
        return f"<Sweep {self._stored.name} of {self._stored.scenario}: {self.results.height} jobs, in {self.folder}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the table."""
        return self.table()._repr_html_()
