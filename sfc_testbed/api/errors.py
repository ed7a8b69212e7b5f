# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The errors of the public interface, with the messages of the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from os_helpers.cache import CacheRefused
from sfc_testbed.analysis.results.result import ResultError
from sfc_testbed.request.checks import refusal
from sfc_testbed.request.errors import Error as Error
from sfc_testbed.testbed.errors import Interrupted as InnerInterrupted
from sfc_testbed.testbed.errors import RunError as RunError
from sfc_testbed.testbed.errors import UsageError as UsageError
from sfc_testbed.testbed.system.limits import out_of_room


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM ended the work early. The message says what was kept and where; `folders` are the
    folders of the stored runs, for `sfc.load`.

    This is a KeyboardInterrupt, so that Ctrl-C ends a script even within `except sfc.Error` or `except Exception`.
    """

    __module__ = "sfc_testbed"

    def __init__(self, message: str = "", folders: Sequence[Path] = ()) -> None:
        super().__init__(message)
        self.folders = tuple(folders)


@contextmanager
def public_errors(*places: Path) -> Iterator[None]:
    """Turn errors of the inside into the public ones. `places` are the folders that the body writes to."""
    try:
        yield
    except InnerInterrupted as error:
        raise Interrupted(str(error)) from error
    except UsageError as error:
        raise UsageError(str(error)) from None  # the message names what to change, so the traceback stays short
    except Error:
        raise
    except ValidationError as error:  # an argument has the wrong type
        raise UsageError(refusal(error)) from error
    except (CacheRefused, ResultError) as error:
        raise UsageError(str(error)) from error
    except Exception as error:
        _refuse_unreadable_trace(error)
        reason = out_of_room(error, places)
        if reason is None:
            raise
        raise RunError(reason) from error


def _refuse_unreadable_trace(error: Exception) -> None:
    """Raise UsageError for an unreadable trace. The import is local because polars loads slowly."""
    from sfc_testbed.telemetry.reader import TraceError

    if isinstance(error, TraceError):
        raise UsageError(str(error)) from error


@contextmanager
def refused_in_one_line(folder: Path) -> Iterator[None]:
    """Raise UsageError for results that cannot be read and pages that cannot be written."""
    try:
        yield
    except ResultError as error:
        raise UsageError(str(error)) from error
    except (Error, InnerInterrupted):
        raise  # has a message already
    except Exception as error:
        message = out_of_room(error, [folder])
        if message is None and isinstance(error, OSError):
            message = f"{error.filename2 or error.filename or folder}: {error.strerror}"
        if message is None:
            raise
        raise UsageError(message) from error
