# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reproduced experiments, and comparisons of live and virtual runs, on the terminal."""

from __future__ import annotations

from pathlib import Path

from sfc_testbed.analysis.report.terminal_tables import claims_table
from sfc_testbed.analysis.report.validation import validated_run_table, validation_summary
from sfc_testbed.analysis.validation.record import FILE_NAME, Validation
from sfc_testbed.cli.output import console, say, warn
from sfc_testbed.reproduction.record import StoredReproduction


def print_reproduction(stored: StoredReproduction) -> None:
    """Print each claim of the paper, the measured value, and whether the claim holds."""
    record = stored.reproduction
    rows = [(claim.claim, claim.paper, claim.measured, claim.outcome_text) for claim in record.claims]
    own = [f"--p4 {record.program.name}"] if record.program else []
    changed = f", with {' '.join([*record.changed, *own])}" if record.departures else ""
    console.print(claims_table(f"{record.experiment} ({record.paper_place}), scale {record.scale}{changed}", rows))
    for note in (*record.notes, *(f"failed: {failure}" for failure in record.failures)):
        console.print(f"! {note}", style="yellow")
    say(f"report: {stored.page}")
    console.print()


def print_validation(validation: Validation, folder: Path, page: Path | None, *, in_full: bool) -> None:
    """Print a row for each run, and with `in_full` all its figures; failed and left-out runs go to stderr."""
    if in_full:
        for run in validation.runs:
            console.print(validated_run_table(run))
            console.print()
    if validation.runs:
        console.print(validation_summary(validation))
    for failure in validation.failures:
        warn(f"failed: {failure}")
    for pair in validation.left_out:
        warn(f"left out: {pair}")
    if (folder / FILE_NAME).exists():
        say(f"results: {folder / FILE_NAME}")
    if page is not None:
        say(f"report: {page}")
