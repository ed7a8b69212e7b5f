# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The P4 program of a run's switches, from config.json."""

from __future__ import annotations

from collections.abc import Sequence

from analysis.report.page import DataTable
from analysis.results.spec import RunConfig

_SHOWN_DIGITS = 12


def program_rows(config: RunConfig | None) -> list[tuple[str, str]]:
    """Return path and hash of the program, for a page."""
    return [] if config is None else [("P4 program", f"{config.program.path}, SHA-256 {config.program.sha256}")]


def user_program_rows(config: RunConfig | None) -> list[tuple[str, str]]:
    """Return path and hash of the program for the terminal, only if the user supplied the program."""
    if config is None or config.program.name is None:
        return []
    return [("P4 program", f"{config.program.path}, SHA-256 {config.program.sha256[:_SHOWN_DIGITS]}...")]


def program_tables(labels: Sequence[str], configs: Sequence[RunConfig | None]) -> list[DataTable]:
    """Return a table of all runs' programs if the user supplied at least one."""
    if all(config is None or config.program.name is None for config in configs):
        return []
    rows = [
        (label, "" if config is None else config.program.path, "" if config is None else config.program.sha256)
        for label, config in zip(labels, configs, strict=True)
    ]
    return [DataTable("P4 programs of the switches", ("run", "file", "SHA-256 of the compiled program"), rows)]
