# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The formats of `export`, one row per format. Extensions add rows to the same table.

This module loads nothing slow, because processes that export nothing load extensions too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sfc_testbed.request.table import Table


@dataclass(frozen=True)
class Exported:
    """The files that an export wrote, and sentences about files of the run that could not be read."""

    paths: Sequence[Path]
    problems: Sequence[str] = ()


@dataclass(frozen=True)
class ExportFormat:
    """A format of `export`."""

    summary: str
    write: Callable[[Path, Path | None], Exported]
    """Writes the files of a run folder into a folder, by default one of its own choice in the run folder."""


def _hpcc(run: Path, out: Path | None) -> Exported:
    from sfc_testbed.testbed.execution.hpcc_export import export_hpcc

    return Exported(export_hpcc(run, out))


def _perfetto(run: Path, out: Path | None) -> Exported:
    from sfc_testbed.testbed.execution.perfetto_export import export_perfetto

    exported = export_perfetto(run, out or run)
    return Exported([exported.path], exported.problems)


def _networkx(run: Path, out: Path | None) -> Exported:
    from sfc_testbed.testbed.execution.network_export import export_network

    return Exported([export_network(run, out or run)])


def _tofino2(run: Path, out: Path | None) -> Exported:
    from sfc_testbed.testbed.execution.tofino2_export import export_tofino2

    return Exported(export_tofino2(run, out))


EXPORT_FORMATS: Table[ExportFormat] = Table(
    "export format",
    {
        "hpcc": ExportFormat("files of the HPCC simulator", _hpcc),
        "networkx": ExportFormat("the network as node-link JSON for NetworkX and --topology", _networkx),
        "perfetto": ExportFormat("a timeline for https://ui.perfetto.dev", _perfetto),
        "tofino2": ExportFormat(
            "table entries of the Tofino 2 program as BF Runtime JSON, a file for each switch", _tofino2
        ),
    },
)
