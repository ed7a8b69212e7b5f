# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs a packet test: `softswitch-stf PROGRAM.json TEST.stf`, or `python -m softswitch.stf` with these arguments.

Exit status 0: the test passes. Status 1: it fails, and the first difference is printed. Status 2: bad input, with one
line on stderr.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from softswitch.build import BuildError
from softswitch.codegen.ir.source import CodegenError
from softswitch.stf.engine_target import EngineTarget
from softswitch.stf.program import ProgramNames
from softswitch.stf.runner import TestFailure, run
from softswitch.stf.statements import StfError, parse
from softswitch.system.cache import CacheRefused
from softswitch.system.visible import visible

USAGE = "usage: python -m softswitch.stf PROGRAM.json TEST.stf"
DIFFERENT, BAD_INPUT = 1, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the test of the command line and return the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) != 2 or arguments[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return BAD_INPUT
    program, test = map(Path, arguments)
    try:
        statements = parse(test.read_text(encoding="utf-8"))
        names = ProgramNames.load(program)
        with EngineTarget(program) as target:
            run(statements, names, target)
    except TestFailure as failure:
        print(visible(f"{test}: {failure}", keep="\n"))
        return DIFFERENT
    except StfError as error:
        return _refuse(f"{test}: {error}")
    except (BuildError, CacheRefused, CodegenError, OSError, UnicodeDecodeError) as error:
        return _refuse(str(error))
    return 0


def _refuse(text: str) -> int:
    print(visible(f"softswitch.stf: {text}", keep="\n"), file=sys.stderr)
    return BAD_INPUT


if __name__ == "__main__":
    sys.exit(main())
