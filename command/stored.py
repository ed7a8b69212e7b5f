# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What can be wrong with folders that verbs read from and write into, as refusals of one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from analysis.report.pages import REPORT_FILE
from analysis.results.result import ResultError
from testbed.errors import UsageError


@contextmanager
def refused_in_one_line(folder: Path) -> Iterator[None]:
    """UsageError for results that cannot be read and pages that cannot be written."""
    try:
        yield
    except ResultError as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        raise UsageError(f"{error.filename2 or error.filename or folder}: {error.strerror}") from error


def check_page(folder: Path) -> None:
    """UsageError where a page cannot be put, before anything is written."""
    page = folder / REPORT_FILE
    if page.is_dir() and not page.is_symlink():
        raise UsageError(f"{page}: a folder is where the page should be")
