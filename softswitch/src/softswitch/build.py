# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Builds a P4 program: BMv2 JSON to C to a shared object or an executable, cached by content.

Owns compiler flags and the cache. It must not know what generated code contains or how the result is used.

The cache holds generated C, objects (shared by all programs), libraries and executables. Each file is named by a hash
of all its inputs and by its content (`os_helpers.kept`). Therefore no file is ever stale, a damaged file is
built again, and two processes may build at the same time. A note names the file that was built for a state of the
inputs, so that most builds read none of them.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from os_helpers.cache import CacheRefused, cache_dir, private_cache
from os_helpers.compiler import compiler_words
from os_helpers.kept import CacheGone, file_digest, kept_file, make_file, text_digest, whole_file

HERE = Path(__file__).resolve().parent
SOURCE_DIR = HERE / "c"
"""The folder of the C sources, which is also their include path."""

MAIN_SOURCE = SOURCE_DIR / "process" / "main.c"
GENERATOR_DIR = HERE / "codegen"

_FLAGS = (
    *("-std=gnu11", "-O2", "-g", "-fPIC", "-Wall", "-Wextra", "-Werror"),
    # GCC's usual limit for the growth of a function by inlining separates egress from the rest: 1 % more instructions.
    *("--param=large-function-growth=400", "-Wno-unused-command-line-argument"),  # clang has no such parameter
)
_SANITIZER_FLAGS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer")
_LOG_FLAGS = ("-DSW_PACKET_LOG",)
_OWN_SYMBOLS = ("-Wl,-Bsymbolic",)  # several programs may be loaded in one process; each has its own sw_program
_LIBRARIES = ("-lm", "-lpthread")
_SHOWN_ERROR_LINES = 20
_FILE_TOO_LARGE = signal.strsignal(signal.SIGXFSZ) or ""
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.ENOMEM, errno.EMFILE)
"""Lack of resources, recognised by text: a compiler reports these errors only in its messages."""


_NOTE = "built"
"""The beginning of the name of a note in the cache: which file was built for a state of all inputs."""
_TICK_NS = 1_000_000_000
"""More than the resolution of the times of files."""


class BuildError(Exception):
    """The C compiler failed; the message holds its first lines."""


def build_library(json_path: Path, *, sanitize: bool = False) -> Path:
    """Return the path of a shared object with the whole switch for a program, built unless it is in the cache.

    Raises CodegenError for a program that cannot be turned into C, BuildError when the compiler fails,
    CacheRefused, and OSError.
    """
    return _built(json_path, sanitize=sanitize, executable=False)


def build_executable(json_path: Path, *, sanitize: bool = False, logs: bool = False) -> Path:
    """Return the path of an executable with the whole switch for a program; raises the errors of build_library.

    With `logs` the switch can log the way of every packet; this code is absent otherwise.
    """
    return _built(json_path, sanitize=sanitize, executable=True, logs=logs)


def _write_generated(json_path: Path, part: Path, *, logs: bool) -> None:
    from softswitch.codegen.generate import generate  # loads slowly, and the cache has most programs

    part.write_text(generate(json_path, logs=logs), encoding="utf-8")


def _built(json_path: Path, *, sanitize: bool, executable: bool, logs: bool = False) -> Path:
    """Build a program; build again if the cache is removed meanwhile. Raise CacheRefused if that happens twice."""
    with suppress(CacheGone):
        return _remembered(json_path, sanitize=sanitize, executable=executable, logs=logs)
    try:
        return _Builder.here(sanitize, logs).link(json_path, executable=executable)
    except CacheGone as error:
        raise CacheRefused(f"{error}; run the command again") from error


def _remembered(json_path: Path, *, sanitize: bool, executable: bool, logs: bool) -> Path:
    """Return the program that was built for the present state of all inputs, or build it and remember it.

    The state is size, times and inode of each file, which take a tenth of the time of their digests. A run asks for its
    program twice, and most runs find it here.
    """
    cache = private_cache()
    state = _state_of_inputs(json_path)
    note = cache / f"{_NOTE}-{text_digest(repr((sanitize, executable, logs)), state.text)}.json"
    with suppress(OSError, TypeError, ValueError):  # there is no note, it is damaged, or the program was removed
        name, stamp = json.loads(note.read_bytes())
        built = cache / Path(name).name
        if stamp == list(_stamp(built)):
            return built
    path = _Builder.here(sanitize, logs).link(json_path, executable=executable)
    # A file that changes twice within one tick of the file system's clock looks unchanged.
    if state == _state_of_inputs(json_path) and state.newest_ns < time.time_ns() - _TICK_NS:
        with suppress(OSError):  # the cache is full or removed
            part = note.with_suffix(f".{os.getpid()}")
            part.write_text(json.dumps((path.name, _stamp(path))), encoding="utf-8")
            part.replace(note)
    return path


@dataclass(frozen=True)
class _State:
    """The state of all inputs of a build."""

    text: str
    newest_ns: int
    """The time of the last change of a file."""


def _state_of_inputs(json_path: Path) -> _State:
    words = [os.environ.get(name) for name in ("CC", "PATH")]
    files = [json_path, Path(__file__), *(Path(word) for name in compiler_words()[:1] if (word := shutil.which(name)))]
    stamps = [(str(file), *_stamp(file)) for file in files]
    for folder in (SOURCE_DIR, GENERATOR_DIR):
        stamps += _stamps(folder)
    return _State(repr((words, os.uname().machine, stamps)), max(stamp[-1] for stamp in stamps))


def _stamps(folder: str | Path) -> Iterator[tuple[str, int, int, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _stamps(entry.path)
            elif entry.name.endswith((".c", ".h", ".py")):
                yield entry.path, *_stamp(entry)


def _stamp(file: Path | os.DirEntry[str]) -> tuple[int, int, int, int]:
    status = file.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


@dataclass(frozen=True)
class _Builder:
    """A compiler with its flags, and the digest of the inputs that all objects share."""

    compiler: tuple[str, ...]
    flags: tuple[str, ...]
    base: str
    cache: Path
    logs: bool

    @staticmethod
    def here(sanitize: bool, logs: bool) -> _Builder:
        compiler = compiler_words()
        flags = _FLAGS + (_SANITIZER_FLAGS if sanitize else ()) + (_LOG_FLAGS if logs else ())
        parts = [_run((*compiler, "--version")), " ".join(compiler + flags), os.uname().machine]
        headers = sorted(SOURCE_DIR.rglob("*.h"))
        parts += [f"{h.relative_to(SOURCE_DIR)}\n{h.read_text(encoding='utf-8')}" for h in headers]
        return _Builder(compiler, flags, text_digest(*parts), private_cache(), logs)

    def generate(self, json_path: Path) -> Path:
        """Return the path of the generated C, cached by a hash of the program and of the generator's sources."""
        sources = [path.read_text(encoding="utf-8") for path in sorted(GENERATOR_DIR.rglob("*.py"))]
        name = f"{json_path.stem}-{text_digest(json_path.name, file_digest(json_path), str(self.logs), *sources)}"
        return kept_file(self.cache, name, ".c", lambda part: _write_generated(json_path, part, logs=self.logs))

    def link(self, json_path: Path, *, executable: bool) -> Path:
        """Return the path of the linked program from the cache, or link it after compiling missing objects."""
        sources = [self.generate(json_path), *sorted(SOURCE_DIR.rglob("*.c"))]
        if not executable:
            sources = [s for s in sources if s != MAIN_SOURCE]
        try:
            names = [self._object_name(source) for source in sources]
        except FileNotFoundError as error:
            raise CacheGone(f"{self.cache} was removed while it was used") from error
        kind, suffix = (("-pie",), "") if executable else (("-shared", *_OWN_SYMBOLS), ".so")
        name = f"{json_path.stem}-{text_digest(self.base, *names)}"
        cached = whole_file(self.cache, name, suffix)
        if cached is not None:
            return cached
        from concurrent.futures import ThreadPoolExecutor  # the cache has most programs

        with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
            objects = list(pool.map(self._object, sources, names))

        def make(part: Path) -> None:
            _run((*self.compiler, *self.flags, *kind, "-o", str(part), *map(str, objects), *_LIBRARIES))

        try:
            return make_file(self.cache, name, suffix, make)
        except BuildError as error:
            if all(path.exists() for path in objects):
                raise
            raise CacheGone(f"{self.cache} was emptied while it was used") from error

    def _object_name(self, source: Path) -> str:
        return f"{source.stem.split('-')[0]}-{text_digest(self.base, source.read_text(encoding='utf-8'))}"

    def _object(self, source: Path, name: str) -> Path:
        def make(part: Path) -> None:
            _run((*self.compiler, *self.flags, f"-I{SOURCE_DIR}", "-c", "-o", str(part), str(source)))

        try:
            return kept_file(self.cache, name, ".o", make)
        except BuildError as error:
            if SOURCE_DIR in source.parents:
                raise
            first = next((line for line in str(error).splitlines() if ": error: " in line), str(error))
            raise BuildError(f"a fault of softswitch: the C code of this program does not compile: {first}") from error


def _run(command: tuple[str, ...]) -> str:
    """Run a compiler command and return its standard output."""
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}
        )
    except FileNotFoundError:
        raise BuildError(f"no C compiler '{command[0]}': install one or set CC") from None
    if process.returncode != 0:
        lines = "\n".join(process.stderr.splitlines()[:_SHOWN_ERROR_LINES])
        for number in _NO_ROOM:
            if os.strerror(number) in process.stderr or (number == errno.EFBIG and _FILE_TOO_LARGE in process.stderr):
                raise OSError(number, f"{os.strerror(number)} for the C compiler", str(cache_dir()))
        raise BuildError(f"{shlex.join(command)} failed:\n{lines}")
    return process.stdout
