# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""P4 sources to BMv2 JSON, by p4c where it is installed. Must not know what is made of the JSON.

What was compiled is kept in the cache by what p4c's preprocessor makes of the source: a long one takes p4c seconds.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from compiled.cache import PROGRAMS, CacheRefused, private_cache
from compiled.kept import CacheGone, discard, kept_file

COMPILER = "p4c-bm2-ss"
LANGUAGE = ("--std", "p4-16")
_PLAIN = re.compile(r"[\w./+@%:=,-]+", re.ASCII)
"""p4c makes a shell's command of the names that its preprocessor is to read (docs/security.md)."""
_SHOWN_LINES = 3
_DIGITS = 24


class CompileError(Exception):
    """There is no program, and why, in one line."""


def program_folder() -> Path:
    """Return the folder where compiled P4 programs are kept. CacheRefused, OSError."""
    folder = private_cache() / PROGRAMS
    if not folder.is_dir():
        discard(folder)
        folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def program_json(program: Path) -> Path:
    """A program's BMv2 JSON: the file itself, or what is made of a `.p4`. Raises CompileError and OSError."""
    if program.suffix != ".p4":
        return program
    program.stat()  # the system says in a line what p4c would say in four
    return compile_source(program)


def compile_source(source: Path, includes: Sequence[Path] = ()) -> Path:
    """The BMv2 JSON of a P4 source, in the cache; what it includes is sought beside it, then in these folders.

    Raises CompileError.
    """
    if shutil.which(COMPILER) is None:
        raise CompileError(f"no {COMPILER} on the PATH to compile it; a compiled .json needs none")
    for name in (source.name, *map(str, includes)):
        if not _PLAIN.fullmatch(name):
            raise CompileError(f"p4c takes names of letters, digits and . _ / + @ % : = , - alone, not {name!r}")
    # Called where the source lies, so that errors and the program's own notes have short names.
    sought = [word for folder in includes for word in ("-I", str(folder))]
    words = [COMPILER, *LANGUAGE, *sought, f"./{source.name}"]
    folder = source.absolute().parent
    try:
        name = f"source-{_digest(words, folder)}"
        return kept_file(program_folder(), name, ".json", lambda part: _compile(words, folder, part))
    except (CacheGone, CacheRefused) as error:
        raise CompileError(str(error)) from error


def _digest(words: list[str], folder: Path) -> str:
    """Of all that decides what p4c makes: its version, how it is called, the source with everything it includes."""
    parts = [" ".join(words)]
    for option in ("--version", "-E"):
        parts.append(_called([*words, option], folder).stdout)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:_DIGITS]


def _compile(words: list[str], folder: Path, part: Path) -> None:
    """Have p4c write the BMv2 JSON to a file. Raises CompileError."""
    done = _called([*words, "-o", str(part)], folder)
    if done.returncode != 0 or not part.exists():
        raise CompileError(_said(done))


def _called(words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, errors="backslashreplace", check=False)


def _said(done: subprocess.CompletedProcess[str]) -> str:
    """The first lines, without those that only point."""
    lines = [" ".join(line.split()) for line in (done.stderr + done.stdout).splitlines()]
    telling = [line for line in lines if line.strip(" ^")]
    shown = "; ".join(telling[:_SHOWN_LINES]) or f"it ended with {done.returncode} and said nothing"
    return f"{COMPILER}: {shown}"
