# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The comparison of live and virtual runs on the terminal."""

from __future__ import annotations

from pathlib import Path

from analysis.report.validation import validated_run_table, validation_summary
from analysis.validation.record import FILE_NAME, Validation
from cli.output import console, say, warn


def print_validation(validation: Validation, folder: Path, page: Path | None, *, in_full: bool) -> None:
    """Print a row for each run, and with `in_full` all its figures; failed and left-out runs go to stderr."""
    if in_full:
        for run in validation.runs:
            console.print(validated_run_table(run))
            console.print()
    if validation.runs:
        console.print(validation_summary(validation))
    failures, left_out = validation.failures, validation.left_out
    for text in (*(f"failed: {each}" for each in failures), *(f"left out: {each}" for each in left_out)):
        warn(text)
    if (folder / FILE_NAME).exists():
        say(f"results: {folder / FILE_NAME}")
    if page is not None:
        say(f"report: {page}")
