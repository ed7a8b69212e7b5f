# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Finds out what a folder of results is."""

from __future__ import annotations

from pathlib import Path

from sfc_testbed.analysis.results.comparison import COMPARISON_FILE
from sfc_testbed.analysis.results.result import RESULT_FILE
from sfc_testbed.analysis.results.swept import is_sweep
from sfc_testbed.analysis.validation.record import is_validation
from sfc_testbed.api.comparison import Comparison
from sfc_testbed.api.run import Run
from sfc_testbed.api.sweep import Sweep
from sfc_testbed.reproduction.record import is_reproduction
from sfc_testbed.testbed.errors import UsageError


def loaded(folder: Path) -> Run | Comparison | Sweep:
    """Return the results in a folder. UsageError, one line, if it holds none that can be read."""
    if is_sweep(folder):
        return Sweep(folder)
    if (folder / COMPARISON_FILE).is_file() and not (folder / RESULT_FILE).is_file():
        return Comparison.read(folder)
    if is_reproduction(folder) or is_validation(folder):
        kind = "a reproduced experiment" if is_reproduction(folder) else "a validation"
        raise UsageError(
            f"{folder}: the folder of {kind}; load one of its runs, or read its page, {folder}/report.html"
        )
    run = Run(folder)
    _ = run.result  # a folder without a readable result is refused now
    return run
