# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Builds a P4 program: BMv2 JSON to C to a shared object or an executable, cached by content.

Owns compiler flags and the cache. It must not know what generated code contains, nor how the result is used.

The cache holds objects (shared by all programs), libraries and executables, each named by a hash of everything that
went into it, so nothing in it is ever stale and two processes may build at once: both make the same file and the last
rename wins.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shlex
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from compiled.cache import cache_dir, private_cache
from softswitch.codegen import generate

HERE = Path(__file__).resolve().parent
SOURCE_DIR = HERE / "src"
"""Where the C stands, and what its `#include`s start from."""

MAIN_SOURCE = SOURCE_DIR / "process" / "main.c"
GENERATOR_DIR = HERE / "codegen"

_FLAGS = ("-std=gnu11", "-O2", "-g", "-fPIC", "-Wall", "-Wextra", "-Werror")
_SANITIZER_FLAGS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")
_OWN_SYMBOLS = ("-Wl,-Bsymbolic",)  # several programs may be loaded in one process; each has its own sw_program
_LIBRARIES = ("-lm", "-lpthread")
_SHOWN_ERROR_LINES = 20
_FILE_TOO_LARGE = signal.strsignal(signal.SIGXFSZ) or ""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM, errno.EMFILE)
"""A compiler says what the system refused it in words alone."""


class BuildError(Exception):
    """The C compiler failed; the message holds its first lines."""


def build_library(json_path: Path, *, sanitize: bool = False) -> Path:
    """The path of a shared object with the whole switch for a program, built unless it is in the cache.

    Raises CodegenError for a program that cannot be turned into C, BuildError when the compiler fails,
    CacheRefused, and OSError.
    """
    return _Builder.here(sanitize).link(json_path, executable=False)


def build_executable(json_path: Path, *, sanitize: bool = False) -> Path:
    """The path of an executable with the whole switch for a program; errors as build_library."""
    return _Builder.here(sanitize).link(json_path, executable=True)


@dataclass(frozen=True)
class _Builder:
    """A compiler with its flags, and the digest of all that every object depends on."""

    compiler: tuple[str, ...]
    flags: tuple[str, ...]
    base: str
    cache: Path

    @staticmethod
    def here(sanitize: bool) -> _Builder:
        compiler = tuple(shlex.split(os.environ.get("CC", "cc")))
        flags = _FLAGS + (_SANITIZER_FLAGS if sanitize else ())
        parts = [_version(compiler), " ".join(compiler + flags)]
        headers = sorted(SOURCE_DIR.rglob("*.h"))
        parts += [f"{h.relative_to(SOURCE_DIR)}\n{h.read_text(encoding='utf-8')}" for h in headers]
        return _Builder(compiler, flags, _digest(*parts), private_cache())

    def generate(self, json_path: Path) -> Path:
        """The generated C, in the cache by what it is made of: the program and the generator."""
        sources = [path.read_text(encoding="utf-8") for path in sorted(GENERATOR_DIR.rglob("*.py"))]
        program = hashlib.sha256(json_path.read_bytes()).hexdigest()
        path = self.cache / f"{json_path.stem}-{_digest(json_path.name, program, *sources)}.c"
        if not path.exists():
            text = generate(json_path)
            with _replacing(path) as part:
                part.path.write_text(text, encoding="utf-8")
        return path

    def link(self, json_path: Path, *, executable: bool) -> Path:
        """Compiles what is missing and links it."""
        sources = [self.generate(json_path), *sorted(SOURCE_DIR.rglob("*.c"))]
        if not executable:
            sources = [s for s in sources if s != MAIN_SOURCE]
        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            objects = list(pool.map(self._object, sources))
        kind, suffix = (("-pie",), "") if executable else (("-shared", *_OWN_SYMBOLS), ".so")
        path = self.cache / f"{json_path.stem}-{_digest(self.base, *(o.name for o in objects))}{suffix}"
        if not path.exists():
            with _replacing(path) as part:
                _run((*self.compiler, *self.flags, *kind, "-o", str(part.path), *map(str, objects), *_LIBRARIES))
        return path

    def _object(self, source: Path) -> Path:
        text = source.read_text(encoding="utf-8")
        path = self.cache / f"{source.stem.split('-')[0]}-{_digest(self.base, text)}.o"
        if not path.exists():
            with _replacing(path) as part:
                _run((*self.compiler, *self.flags, f"-I{SOURCE_DIR}", "-c", "-o", str(part.path), str(source)))
        return path


class _replacing:
    """Gives a temporary path beside `path` and renames it into place when the block succeeds."""

    def __init__(self, path: Path) -> None:
        self._final = path
        self._dir = Path(tempfile.mkdtemp(prefix=".build-", dir=path.parent))
        self.path = self._dir / path.name

    def __enter__(self) -> _replacing:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.path.replace(self._final)
        self.path.unlink(missing_ok=True)
        self._dir.rmdir()


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _version(compiler: tuple[str, ...]) -> str:
    return _run((*compiler, "--version"))


def _run(command: tuple[str, ...]) -> str:
    """Standard output of a compiler command."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})
    except FileNotFoundError:
        raise BuildError(f"no C compiler '{command[0]}': install one or set CC") from None
    if done.returncode != 0:
        lines = "\n".join(done.stderr.splitlines()[:_SHOWN_ERROR_LINES])
        for number in _NO_ROOM:
            if os.strerror(number) in done.stderr or (number == errno.EFBIG and _FILE_TOO_LARGE in done.stderr):
                raise OSError(number, f"{os.strerror(number)} for the C compiler", str(cache_dir()))
        raise BuildError(f"{shlex.join(command)} failed:\n{lines}")
    return done.stdout
