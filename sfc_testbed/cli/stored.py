# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Errors of folders that verbs read from or write to, as one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfc_testbed.analysis.report.html_pages import REPORT_FILE
from sfc_testbed.analysis.results.result import ResultError
from sfc_testbed.testbed.errors import Interrupted, RunError, UsageError
from sfc_testbed.testbed.system.limits import out_of_room


@contextmanager
def refused_in_one_line(folder: Path) -> Iterator[None]:
    """Raise UsageError for results that cannot be read and pages that cannot be written."""
    try:
        yield
    except ResultError as error:
        raise UsageError(str(error)) from error
    except (UsageError, RunError, Interrupted):
        raise  # has a message already
    except Exception as error:
        message = out_of_room(error, [folder])
        if message is None and isinstance(error, OSError):
            message = f"{error.filename2 or error.filename or folder}: {error.strerror}"
        if message is None:
            raise
        raise UsageError(message) from error


def check_page(folder: Path) -> None:
    """Raise UsageError if the page cannot be written, before anything is written."""
    page = folder / REPORT_FILE
    if page.is_dir() and not page.is_symlink():
        raise UsageError(f"{page} is a folder, and the report would have this name")
