# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compiles P4 sources to BMv2 JSON with p4c, if it is installed. Must not know how the JSON is used.

Results are cached by a hash of the preprocessed source, because p4c takes seconds for a long program.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from os_helpers.cache import PROGRAMS, CacheRefused, private_cache
from os_helpers.kept import CacheGone, discard, kept_file, text_digest

COMPILER = "p4c-bm2-ss"
LANGUAGE = ("--std", "p4-16")
_PLAIN = re.compile(r"[\w./+@%:=,-]+", re.ASCII)
"""The file names that are safe for p4c, which passes them to its preprocessor through a shell (docs/security.md)."""
_ERROR = re.compile(r"\berror:|\bsyntax error\b|Compiler Bug|Unimplemented")
_NO_REASON = re.compile(
    r"errors encountered, aborting|Preprocessor returned exit code|compilation terminated"
    r"|---- (?:Actual error|Originating from):"
)
"""Lines that say only that there were errors, or introduce a reason."""
_NO_PROGRAM = re.compile(r"--Wwarn=missing")
"""The warning with which p4c ends without a JSON for a source without a `main`."""
_SOURCE_PLACE = re.compile(r"[^/(:][^(:]*\(\d+\):")
"""The start of a line about a source of the user. The paths of p4c's own sources are absolute."""
_NAME = re.compile(r"\berror: (\w+):")
_SHOWN_LINES = 3


class CompileError(Exception):
    """A program cannot be compiled; the message is one line with the reason."""


def program_folder() -> Path:
    """Return the folder of compiled P4 programs in the cache. Raises CacheRefused and OSError."""
    folder = private_cache() / PROGRAMS
    if not folder.is_dir():
        discard(folder)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def program_json(program: Path) -> Path:
    """Return the path of a program's BMv2 JSON, after compiling a `.p4`. Raises CompileError and OSError."""
    if program.suffix != ".p4":
        return program
    program.stat()  # for a missing file the system's message is one line, p4c's is four
    return compile_source(program)


def compile_source(source: Path, includes: Sequence[Path] = ()) -> Path:
    """Compile a P4 source and return the path of its BMv2 JSON in the cache.

    Included files are searched for beside the source, then in the folders `includes`. Raises CompileError.
    """
    if shutil.which(COMPILER) is None:
        raise CompileError(f"no {COMPILER} on the PATH to compile it; a compiled .json needs none")
    for name in (source.name, *map(str, includes)):
        if not _PLAIN.fullmatch(name):
            raise CompileError(f"p4c takes names of letters, digits and . _ / + @ % : = , - alone, not {name!r}")
    # p4c runs in the folder of the source, so that its messages and the JSON's source positions have short names.
    include_options = [word for folder in includes for word in ("-I", str(folder))]
    words = [COMPILER, *LANGUAGE, *include_options, f"./{source.name}"]
    folder = source.absolute().parent
    try:
        name = f"source-{_digest(words, folder)}"
        return kept_file(program_folder(), name, ".json", lambda part: _compile(words, folder, part))
    except (CacheGone, CacheRefused) as error:
        raise CompileError(str(error)) from error


def _digest(words: list[str], folder: Path) -> str:
    """Return a digest of all inputs of p4c: its version, its options and the source with all included files."""
    parts = [" ".join(words)]
    for option in ("--version", "-E"):
        parts.append(_run_compiler([*words, option], folder).stdout)
    return text_digest(*parts)


def _compile(words: list[str], folder: Path, part: Path) -> None:
    """Run p4c to write the BMv2 JSON to a file. Raises CompileError."""
    process = _run_compiler([*words, "-o", str(part)], folder)
    if process.returncode != 0 or not part.exists():
        raise CompileError(_error_summary(process))


def _run_compiler(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="backslashreplace", check=False)


def _error_summary(process: subprocess.CompletedProcess[str]) -> str:
    """Return the first lines of p4c's output from the first error on, as one line without the lines of carets.

    p4c prints its warnings before that error. A syntax error is a line `FILE(LINE):syntax error, REASON`.
    """
    lines = [" ".join(line.split()) for line in (process.stderr + process.stdout).splitlines()]
    messages = [line for line in lines if line.strip(" ^|~") and not _NO_REASON.search(line)]
    found = (n for pattern in (_ERROR, _NO_PROGRAM) for n, line in enumerate(messages) if pattern.search(line))
    first = next(found, 0)
    shown = [*_use_of_a_library(messages, first), *messages[first:]]
    summary = "; ".join(shown[:_SHOWN_LINES]) or f"exit status {process.returncode} without a message"
    return f"{COMPILER}: {summary}"


def _use_of_a_library(messages: list[str], first: int) -> list[str]:
    """Return the line about the user's source that led to an error in a source of p4c, such as v1model.p4.

    This line is a part of the error, or an earlier warning about the same name.
    """
    if not messages or not messages[first].startswith("/"):
        return []
    name = _NAME.search(messages[first])
    before = [line for line in messages[:first] if name is not None and f": {name[1]}: " in line]
    return [line for line in [*messages[first:], *before] if _SOURCE_PLACE.match(line)][:1]
