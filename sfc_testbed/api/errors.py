# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The errors of the public interface, with the messages of the command line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfc_testbed.api.interrupted import Interrupted
from sfc_testbed.testbed.errors import Error, RunError, UsageError
from sfc_testbed.testbed.errors import Interrupted as InnerInterrupted


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
    except Exception as error:
        raise _public(error, places) from error


def _public(error: Exception, places: tuple[Path, ...]) -> Exception:
    """Return the public error for an exception, or the exception itself. Imports are local, because they are slow."""
    from pydantic import ValidationError

    from os_helpers.cache import CacheRefused
    from sfc_testbed.analysis.results.result import ResultError
    from sfc_testbed.request.checks import refusal
    from sfc_testbed.telemetry.reader import TraceError
    from sfc_testbed.testbed.system.limits import out_of_room

    if isinstance(error, ValidationError):  # an argument has the wrong type
        return UsageError(refusal(error))
    if isinstance(error, (CacheRefused, ResultError, TraceError)):
        return UsageError(str(error))
    reason = out_of_room(error, places)
    return error if reason is None else RunError(reason)


@contextmanager
def refused_in_one_line(folder: Path) -> Iterator[None]:
    """Raise UsageError for results that cannot be read and pages that cannot be written."""
    from sfc_testbed.analysis.results.result import ResultError
    from sfc_testbed.testbed.system.limits import out_of_room

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
