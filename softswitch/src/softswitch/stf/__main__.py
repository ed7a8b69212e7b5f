# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs packet tests: `softswitch-stf PROGRAM.json TEST.stf...`, or `python -m softswitch.stf` with these arguments.

Every test begins with a new switch. Exit status 0: all tests pass. Status 1: a test fails, and its first difference is
printed. Status 2: bad input, with one line on stderr for the program or for each bad test.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from os_helpers.cache import CacheRefused
from os_helpers.visible import visible
from softswitch.build import BuildError
from softswitch.codegen.ir.source import CodegenError
from softswitch.stf.engine_target import EngineTarget
from softswitch.stf.program import ProgramNames
from softswitch.stf.runner import TestFailure, run
from softswitch.stf.statements import StfError, parse

USAGE = "usage: python -m softswitch.stf PROGRAM.json TEST.stf..."
PASSED, DIFFERENT, BAD_INPUT = 0, 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests of the command line and return the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) < 2 or arguments[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return BAD_INPUT
    program, *tests = map(Path, arguments)
    try:
        names = ProgramNames.load(program)
        return max(_status(program, names, test) for test in tests)
    except (BuildError, CacheRefused, CodegenError, OSError, StfError) as error:
        return _refuse(str(error))


def _status(program: Path, names: ProgramNames, test: Path) -> int:
    """Run a test, print its difference or error, and return its exit status."""
    try:
        statements = parse(test.read_text(encoding="utf-8"))
    except (OSError, StfError, UnicodeDecodeError) as error:
        return _refuse(str(error) if isinstance(error, OSError) else f"{test}: {error}")
    try:
        with EngineTarget(program) as target:
            run(statements, names, target)
    except TestFailure as failure:
        print(visible(f"{test}: {failure}", keep="\n"))
        return DIFFERENT
    except StfError as error:
        return _refuse(f"{test}: {error}")
    return PASSED


def _refuse(text: str) -> int:
    print(visible(f"softswitch.stf: {text}", keep="\n"), file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
