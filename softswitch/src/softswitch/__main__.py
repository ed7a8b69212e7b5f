# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Builds the switch of a P4 program and becomes it: `python -m softswitch PROGRAM.json -i PORT@IFACE ...`.

The build comes first. Then the executable replaces this process, so that the switch keeps its parent and its signals.
All options after the program belong to the executable (`--help` lists them) and are not read here.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from os_helpers.cache import CacheRefused
from os_helpers.visible import visible
from softswitch.build import BuildError, build_executable
from softswitch.codegen.ir.source import CodegenError

USAGE = "usage: python -m softswitch PROGRAM.json -i PORT@IFACE [-i ...] [options, see --help]"
BAD_INPUT = 2


def main(arguments: list[str]) -> NoReturn:
    """Replace this process with the switch, or exit with status 2 and a one-line message."""
    if not arguments or arguments[0].startswith("-"):
        _refuse(USAGE)
    try:
        executable = build_executable(Path(arguments[0]))
    except (BuildError, CacheRefused, CodegenError, OSError) as error:
        _refuse(f"softswitch: {error}")
    os.execv(executable, ["softswitch", *arguments[1:]])


def _refuse(line: str) -> NoReturn:
    print(visible(line, keep="\n"), file=sys.stderr)
    sys.exit(BAD_INPUT)


if __name__ == "__main__":
    main(sys.argv[1:])
