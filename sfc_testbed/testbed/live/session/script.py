# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the main function of a script that builds a live network, with the error handling of the command."""

from __future__ import annotations

import sys
from collections.abc import Callable

from sfc_testbed.testbed.errors import RunError, UsageError

_BAD_INPUT, _BROKEN, _INTERRUPTED = 2, 3, 130
"""The exit codes that `sfc-testbed` has in the same cases."""


def run_script(main: Callable[[], None]) -> int:
    """Run `main` and return the exit code of the script; an error is printed as one line on stderr."""
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
