# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks of folders that verbs write pages to."""

from __future__ import annotations

from pathlib import Path

from sfc_testbed.analysis.report.html_pages import REPORT_FILE
from sfc_testbed.testbed.errors import UsageError


def check_page(folder: Path) -> None:
    """Raise UsageError if the page cannot be written, before anything is written."""
    page = folder / REPORT_FILE
    if page.is_dir() and not page.is_symlink():
        raise UsageError(f"{page} is a folder, and the report would have this name")
