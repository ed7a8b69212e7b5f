# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m softswitch PROGRAM.json -i PORT@IFACE ...`: builds a P4 program's switch and becomes it.

Owns nothing but the order: build, then replace this process, so that its parent and its signals are the switch's. All
options after the program are the executable's own (`--help` lists them); they must not be read here.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

from compiled.cache import CacheRefused
from compiled.visible import visible
from softswitch.build import BuildError, build_executable
from softswitch.codegen import CodegenError

USAGE = "usage: python -m softswitch PROGRAM.json -i PORT@IFACE [-i ...] [options, see --help]"
BAD_INPUT = 2


def main(arguments: list[str]) -> NoReturn:
    """Becomes the switch, or exits with 2 and one line."""
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
