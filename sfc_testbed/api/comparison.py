# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Several runs compared with the first: a table, the claims about them, and plots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, overload

from sfc_testbed.api.errors import public_errors
from sfc_testbed.api.run import Run
from sfc_testbed.request.arguments import checked_call
from sfc_testbed.testbed.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sfc_testbed.analysis.results.comparison import Comparison as Figures
    from sfc_testbed.analysis.results.comparison import HeldClaim
    from sfc_testbed.api.plots import Plots
    from sfc_testbed.api.tables import Table


class Comparison:
    """Runs of the same flows under several schemes, seeds or programs."""

    def __init__(self, folder: Path, runs: Sequence[Run], result: Figures) -> None:
        self.folder = folder
        """The folder with the page of the comparison."""
        self.runs = tuple(runs)
        """The runs, in the order of the rows."""
        self.result = result
        """All figures of comparison.json, as a pydantic model."""

    @classmethod
    def read(cls, folder: Path) -> Comparison:
        """Read a stored comparison. UsageError if it cannot be read."""
        from sfc_testbed.analysis.results.comparison import read_comparison

        with public_errors():
            result, folders = read_comparison(folder)
        return cls(folder, [Run(path.resolve()) for path in folders], result)

    @property
    def claims(self) -> tuple[HeldClaim, ...]:
        """The claims: text, expected and measured value, and whether they hold."""
        return self.result.claims

    def table(self) -> Table:
        """Return the table of the comparison, as the command prints it. Its exact figures have one row per run."""
        from sfc_testbed.analysis.report.html_pages import comparison_rows
        from sfc_testbed.analysis.report.terminal_tables import comparison_table, main_table
        from sfc_testbed.api.tables import Table

        return Table(comparison_table(self.result), main_table(self.result), comparison_rows(self.result))

    @overload
    def plot(self, name: None = None) -> Plots: ...

    @overload
    def plot(self, name: str) -> Figure: ...

    @checked_call
    def plot(self, name: str | None = None) -> Plots | Figure:
        """Return the figures of the page, or the named one, such as `beside_incast`. UsageError for an unknown name."""
        from sfc_testbed.analysis.report.html_pages import comparison_figures
        from sfc_testbed.api.plots import chosen

        if not self.runs:
            raise UsageError(f"{self.folder}: an older release wrote it, without the folders of its runs; load these")
        with public_errors():
            return chosen(comparison_figures([run.folder for run in self.runs]), name)

    def page(self) -> Path:
        """Return the report page of the comparison."""
        from sfc_testbed.analysis.report.html_pages import REPORT_FILE

        return self.folder / REPORT_FILE

    def __repr__(self) -> str:
        return f"<Comparison of {len(self.result.rows)} runs of {self.result.scenario}, in {self.folder}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the table."""
        return self.table()._repr_html_()
