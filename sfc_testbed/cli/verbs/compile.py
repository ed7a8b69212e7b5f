# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`runner.py compile`."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter

from os_helpers.kept import discard
from sfc_testbed.api.progress import status
from sfc_testbed.cli.output import errors, say
from sfc_testbed.native.build import BuildFailed
from sfc_testbed.native.extended import WANTED
from sfc_testbed.native.first_use import compile_with, folder_with
from sfc_testbed.place import neutral_folder
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.extension import Extension
from sfc_testbed.request.extensions import for_compiler, use

_EXTENSIONS = TypeAdapter(tuple[Extension, ...])
_LOAD = "import sys; from sfc_testbed.cli.verbs.compile import load_stdin; sys.exit(load_stdin())"


def verb(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE.py",
            help="Files as for --use. Files of runs that use several files must be compiled by one command.",
        ),
    ],
) -> None:
    extensions = use(*files)
    sources = [for_compiler(extension) for extension in extensions]
    names = ", ".join(extension.word for extension in extensions)
    began_s = time.monotonic()
    try:
        with status("compiling with the host engine: about a minute", errors):
            is_new = compile_with(sources)
            if is_new:
                _check(extensions, folder_with(sources).name)
    except BuildFailed as error:
        raise UsageError(f"{error}; runs with --use {names} are interpreted") from error
    except UsageError:
        discard(folder_with(sources))
        raise
    if not is_new:
        say(f"{names}: compiled already")
        return
    modules = {Path(module.path).name for file in sources for module in file.modules}
    say(f"{', '.join(sorted(modules))}: compiled with the host engine in {time.monotonic() - began_s:.0f} s")


def _check(extensions: Sequence[Extension], build: str) -> None:
    """Load the compiled files in a new process. UsageError, one line, if they fail there."""
    done = subprocess.run(
        [sys.executable, "-c", _LOAD],
        cwd=neutral_folder(),
        env={**os.environ, WANTED: build},
        input=_EXTENSIONS.dump_json(tuple(extensions)).decode(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        reason = next(iter(reversed(done.stderr.strip().splitlines())), f"the process ended with {done.returncode}")
        raise UsageError(f"the compiled file cannot be loaded, so it stays interpreted: {reason}")


def load_stdin() -> int | str:
    """Load the compiled extensions on stdin. Return 0, or what is wrong."""
    from sfc_testbed.request.extensions import is_compiled, load

    extensions = _EXTENSIONS.validate_json(sys.stdin.read())
    try:
        load(extensions)
    except UsageError as error:
        return str(error)
    return 0 if all(map(is_compiled, extensions)) else "its modules are not found"
