# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the main function of a script that builds a live network, so that it ends like the command does."""

from __future__ import annotations

import sys
from collections.abc import Callable

from testbed.errors import RunError, UsageError

_BAD_INPUT, _BROKEN, _INTERRUPTED = 2, 3, 130
"""The exit codes of `runner.py` for the same ends."""


def run_script(main: Callable[[], None]) -> int:
    """Return the exit code of a script; what kept it from running is one line on stderr."""
    try:
        main()
    except UsageError as error:
        return _ended(str(error), _BAD_INPUT)
    except RunError as error:
        return _ended(str(error), _BROKEN)
    except KeyboardInterrupt:
        return _ended("interrupted", _INTERRUPTED)
    return 0


def _ended(reason: str, status: int) -> int:
    print(f"{sys.argv[0]}: {reason}", file=sys.stderr)
    return status
