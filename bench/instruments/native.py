# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compiles and runs the C programs in bench/programs, and reads their output."""

from __future__ import annotations

import hashlib
import json
import shlex
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from os_helpers.cache import private_cache
from os_helpers.compiler import compiler_words
from os_helpers.kept import kept_file
from softswitch.build import SOURCE_DIR, BuildError

_PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
_FLAGS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE_DIR}")
_STOP_SECONDS = 10.0


def tool(name: str) -> str:
    """Return the path of the executable of `bench/programs/NAME.c`, compiled if necessary.

    Raise BuildError when the compiler fails. The cached executable is compiled again after a change of the source, of a
    header in its folder or in softswitch, of the compiler or of the flags.
    """
    source = _PROGRAMS / f"{name}.c"
    headers = "".join(
        header.read_text() for folder in (SOURCE_DIR, _PROGRAMS) for header in sorted(folder.rglob("*.h"))
    )
    compiler = compiler_words()
    digest = hashlib.sha256("\0".join([*compiler, *_FLAGS, headers, source.read_text()]).encode()).hexdigest()[:24]

    def make(part: Path) -> None:
        command = [*compiler, *_FLAGS, "-o", str(part), str(source), "-ldl"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise BuildError(f"{shlex.join(command)} failed:\n{done.stderr}")

    return str(kept_file(private_cache(), f"bench-{name}-{digest}", "", make))


def answer(arguments: Sequence[str], seconds: float = 60.0) -> dict[str, Any]:
    """Run a program to its end and return the JSON object that it prints."""
    done = subprocess.run(list(arguments), capture_output=True, text=True, check=False, timeout=seconds)
    if done.returncode != 0:
        raise RuntimeError(f"{arguments[0]}: {done.stderr.strip()}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@contextmanager
def running(arguments: Sequence[str], ready: str | None = "ready") -> Iterator[subprocess.Popen[str]]:
    """Run a program in the background during the block, and end it with SIGTERM.

    The block starts when the program has printed a line that contains `ready`, or at once if `ready` is None.
    """
    output = subprocess.PIPE if ready else subprocess.DEVNULL
    process = subprocess.Popen(list(arguments), stdout=output, text=True)
    try:
        if ready and process.stdout and ready not in (line := process.stdout.readline()):
            raise RuntimeError(f"{arguments[0]} ended before it was ready, with {line.strip()!r}")
        yield process
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
