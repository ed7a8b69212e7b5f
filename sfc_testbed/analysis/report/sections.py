# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The sections of pages, one row per section: tables and texts below the plots.

A new section is a function and a row here. Extensions add rows to the same tables. This module loads nothing slow,
because processes that write no page load extensions too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

from sfc_testbed.analysis.report.data_table import DataTable
from sfc_testbed.analysis.report.plots import ComparedRuns, Content, Page
from sfc_testbed.request.table import Table

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.stored import Run
    from sfc_testbed.analysis.results.swept import Sweep


@dataclass(frozen=True)
class Section(Generic[Content]):
    """A section of a page."""

    tables: Callable[[Content], DataTable | Iterable[DataTable] | None]
    """Returns the section's table or tables from the page's content; None if there is nothing to show."""


def _page_tables() -> Any:
    from sfc_testbed.analysis.report import page_tables

    return page_tables


def _slowest(run: Run) -> DataTable | None:
    from sfc_testbed.analysis.report.slow_table import slow_table

    return slow_table(run)


def _physics(run: Run) -> list[DataTable]:
    from sfc_testbed.analysis.report.physics import physics_tables

    return physics_tables(run.config)


def _jobs(sweep: Sweep) -> DataTable:
    from sfc_testbed.analysis.report.over_axes import job_table

    return job_table(sweep)


RUN_SECTIONS: Table[Section[Run]] = Table(
    "section of a run",
    {
        "slowdown": Section(lambda run: _page_tables().slowdown_table(run.result)),
        "slow-flows": Section(_slowest),
        "iterations": Section(lambda run: _page_tables().iteration_table(run.result)),
        "sizes": Section(lambda run: _page_tables().size_table(run.result)),
        "buffers": Section(lambda run: _page_tables().buffer_table(run.result)),
        "signals": Section(lambda run: _page_tables().signal_table(run.result)),
        "switches": Section(lambda run: _page_tables().switch_table(run.result)),
        "packets": Section(lambda run: _page_tables().packet_table(run.result)),
        "lateness": Section(lambda run: _page_tables().lateness_table(run.result)),
        "spacing": Section(lambda run: _page_tables().spacing_table(run.result)),
        "physics": Section(_physics),
        "quantities": Section(lambda run: _page_tables().quantity_tables(run)),
    },
)
COMPARISON_SECTIONS: Table[Section[ComparedRuns]] = Table(
    "section of a comparison",
    {
        "seeds": Section(lambda compared: _page_tables().seeds_table(compared.comparison)),
        "overview": Section(lambda compared: _page_tables().overview_table(compared.comparison)),
        "quantities": Section(lambda compared: _page_tables().compared_quantity_tables(compared.comparison)),
        "iterations": Section(lambda compared: _page_tables().compared_iteration_tables(compared.comparison)),
        "completion": Section(lambda compared: _page_tables().completion_tables(compared.comparison)),
        "classes": Section(
            lambda compared: _page_tables().class_table(
                compared.labels, compared.results, compared.comparison.traffic_classes
            )
        ),
        "buffers": Section(lambda compared: _page_tables().buffers_table(compared.labels, compared.results)),
        "programs": Section(lambda compared: _page_tables().program_tables(compared.labels, compared.runs)),
    },
)
SWEEP_SECTIONS: Table[Section[Sweep]] = Table("section of a sweep", {"jobs": Section(_jobs)})
SECTIONS: Mapping[Page, Table[Any]] = {"run": RUN_SECTIONS, "comparison": COMPARISON_SECTIONS, "sweep": SWEEP_SECTIONS}
