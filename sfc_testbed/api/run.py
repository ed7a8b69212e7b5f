# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A stored run: its verdict, its figures, its traces as data frames, its table and its plots."""

from __future__ import annotations

import warnings
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, overload

from sfc_testbed.api.errors import public_errors
from sfc_testbed.api.forks import check_not_forked
from sfc_testbed.request.arguments import checked_call
from sfc_testbed.testbed.errors import UsageError

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from sfc_testbed.analysis.results.result import Level, RunResult
    from sfc_testbed.api.plots import Plots
    from sfc_testbed.api.tables import Table
    from sfc_testbed.request.spec import RunConfig

_CONGESTION = "cc"
"""The name of the congestion control trace."""


class Run:
    """A run in a folder. Its files are read when they are first needed, as the modules for them are loaded."""

    def __init__(self, folder: Path, result: RunResult | None = None) -> None:
        self.folder = folder
        """The folder with all files of the run."""
        if result is not None:
            self.__dict__["result"] = result  # known already, so the file need not be read

    @cached_property
    def result(self) -> RunResult:
        """All figures of result.json, as a pydantic model."""
        from sfc_testbed.analysis.results.result import read_result

        with public_errors():
            return read_result(self.folder)

    @property
    def verdict(self) -> Level:
        """Whether the figures can be trusted: `faithful`, `degraded` or `invalid`."""
        return self.result.verdict

    @property
    def verdict_reasons(self) -> tuple[str, ...]:
        """Sentences that explain the verdict."""
        return self.result.verdict_reasons

    @cached_property
    def config(self) -> RunConfig:
        """The content of config.json: everything that is needed to repeat the run."""
        from sfc_testbed.analysis.results.stored import read_config

        with public_errors():
            return read_config(self.folder)

    @property
    def traces(self) -> tuple[str, ...]:
        """The names of the traces that the run has."""
        from sfc_testbed.telemetry.schema import OPTIONAL_SCHEMAS, SCHEMAS

        schemas = (*SCHEMAS.values(), *OPTIONAL_SCHEMAS.values())
        return tuple(schema.name for schema in schemas if (self.folder / schema.file_name).is_file())

    @checked_call
    def trace(self, name: str) -> pl.DataFrame:
        """Return a trace as a polars frame. docs/traces.md lists the columns. UsageError if there is no such trace."""
        check_not_forked()
        from sfc_testbed.request.shown import nearest, shown
        from sfc_testbed.telemetry.reader import read_trace
        from sfc_testbed.telemetry.schema import OPTIONAL_SCHEMAS, SCHEMAS

        schema = {**SCHEMAS, **OPTIONAL_SCHEMAS}.get(name)
        if schema is None or name not in self.traces:
            if name == _CONGESTION:
                raise UsageError(
                    f"{self.folder}: no trace of the congestion control; set transport.cc_trace_ns or cc_trace_rtt"
                )
            known = ", ".join(self.traces) or "none"
            raise UsageError(f"{self.folder}: no trace {shown(name)}; choose from {known}{nearest(name, self.traces)}")
        with public_errors():
            return read_trace(self.folder / schema.file_name, schema)

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow: sizes, times, slowdown, packets and pauses."""
        return self.trace("flows")

    @cached_property
    def queues(self) -> pl.DataFrame:
        """Depths of queues and shared buffers over time."""
        return self.trace("queues")

    @cached_property
    def links(self) -> pl.DataFrame:
        """Bytes that each port of a switch sent and received over time."""
        return self.trace("links")

    @cached_property
    def signals(self) -> pl.DataFrame:
        """One row per signal that a host received, such as a BTS."""
        return self.trace("signals")

    @cached_property
    def goodput(self) -> pl.DataFrame:
        """Received payload over time."""
        return self.trace("goodput")

    @cached_property
    def lateness(self) -> pl.DataFrame:
        """Lateness of frames over time. A run in virtual time is never late, so its trace is empty."""
        return self.trace("lateness")

    @cached_property
    def congestion(self) -> pl.DataFrame:
        """Window, rate and round trip over time, if `transport.cc_trace_ns` or `cc_trace_rtt` was set."""
        return self.trace(_CONGESTION)

    @cached_property
    def quantities(self) -> dict[str, float | None]:
        """The quantities of the extensions in use, by name; None if the run has too little data for one."""
        from sfc_testbed.analysis.results.quantities import measured_in

        with public_errors():
            [measurements] = measured_in([self.folder])
        for failure in measurements.failures:
            warnings.warn(f"{self.folder}: {failure}", stacklevel=3)
        return dict(measurements.values)

    def table(self) -> Table:
        """Return the table of the run. Its exact figures have one row per traffic class and size."""
        from sfc_testbed.analysis.report.page_tables import slowdown_rows
        from sfc_testbed.analysis.report.terminal_tables import run_table, slowdown_table
        from sfc_testbed.analysis.results.stored import known_config
        from sfc_testbed.api.tables import Table

        whole = run_table(self.result, known_config(self.folder))
        return Table(whole, slowdown_table(self.result).table, slowdown_rows(self.result))

    @overload
    def plot(self, name: None = None) -> Plots: ...

    @overload
    def plot(self, name: str) -> Figure: ...

    @checked_call
    def plot(self, name: str | None = None) -> Plots | Figure:
        """Return the figures of the run's page, or the named one, such as `buffer`. UsageError for an unknown name."""
        from sfc_testbed.analysis.report.html_pages import FLOW_COLUMNS, run_figures
        from sfc_testbed.analysis.results.stored import load_run
        from sfc_testbed.api.plots import chosen

        with public_errors():
            return chosen(run_figures(load_run(self.folder, FLOW_COLUMNS)), name)

    def page(self) -> Path:
        """Return the report page of the run, which is drawn if it is missing."""
        from sfc_testbed.analysis.report.html_pages import REPORT_FILE, write_run_report

        page = self.folder / REPORT_FILE
        with public_errors(self.folder):
            return page if page.is_file() else write_run_report(self.folder)

    def __repr__(self) -> str:
        result = self.result
        return f"<Run of {result.scenario} under {result.variant}: {result.verdict}, in {self.folder}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the table."""
        return self.table()._repr_html_()
