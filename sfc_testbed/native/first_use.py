# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compiles the engine at set-up, or when the first command is about to run hosts."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from os_helpers.cache import CACHE_NAME, UNFINISHED, CacheRefused, private_cache
from os_helpers.kept import discard, is_whole
from os_helpers.temporary import temporary_folder
from os_helpers.visible import visible
from sfc_testbed.native.build import BuildFailed, build_engine, build_extended, missing
from sfc_testbed.native.extended import UserFile, as_json, extended_name, from_json
from sfc_testbed.native.modules import (
    INTERPRETED,
    engine_folder,
    has_damaged_engine,
    install,
    interpreted_algorithms,
    is_extended,
    loaded_sources,
    wants_compiled,
)
from sfc_testbed.native.sources import build_name
from sfc_testbed.place import NAME, ROOT, is_clone, neutral_folder

_COMMAND = ROOT / "runner.py"
_MODULE = "sfc_testbed.native"
WITH_FILES = "--with-files"
"""The option of the module `sfc_testbed.native` to compile files of users, which it reads on stdin."""


def prepare() -> None:
    """Compile the engine if the command needs it and the cache has none. Call this after the arguments are checked.

    The command then starts again with the same arguments, because it has already loaded the sources, and a process must
    not mix the two kinds of modules.
    """
    if not _is_command() or not _needs_build():
        return
    _compile_apart()
    if engine_folder() is not None:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))  # until the new process handles them
        os.execv(sys.executable, [sys.executable, *sys.argv])


def prepare_library() -> None:
    """Compile the engine for a program that imports the testbed. Call this before the process loads the engine.

    If the process has loaded the engine's sources already, one line says so: this process stays slower. The command
    uses `prepare` instead.
    """
    if not _is_command() and _needs_build():
        _prepare_once()


def _needs_build() -> bool:
    """Return whether this process wants a compiled engine and the cache has no whole one."""
    return wants_compiled() and not is_extended() and (engine_folder() is None or has_damaged_engine())


@cache
def _prepare_once() -> None:
    if loaded_sources():
        line = "the host engine was loaded before it was compiled, and runs several times slower; start Python again"
        print(line, file=sys.stderr, flush=True)
        return
    _compile_apart()
    install()


def _is_command() -> bool:
    """Return whether this process is the command, and not a program of a user, who may not expect that it restarts."""
    started = Path(sys.argv[0]).resolve()
    return started == _COMMAND or started.name == NAME


def _compile_apart(files: Sequence[UserFile] = ()) -> str:
    """Compile in separate processes. On Ctrl-C they end and leave nothing behind. Return the output for `files`."""
    words = [sys.executable, "-m", _MODULE, *((WITH_FILES,) if files else ())]
    pipe = subprocess.PIPE if files else None
    compiling = subprocess.Popen(
        words, cwd=neutral_folder(), start_new_session=True, stdin=pipe, stdout=pipe, text=True
    )
    try:
        return compiling.communicate(as_json(files) if files else None)[0] or ""
    except BaseException:
        os.killpg(compiling.pid, signal.SIGINT)
        compiling.wait()
        raise


def folder_with(files: Sequence[UserFile]) -> Path:
    """Return the place of the build of the engine with files of users. Raise CacheRefused."""
    return private_cache() / extended_name(files)


def compile_with(files: Sequence[UserFile]) -> bool:
    """Compile the engine with files of users. Return False if the cache has the build already. Raise BuildFailed."""
    folder = folder_with(files)
    if is_whole(folder) or adopt_build(folder.name):
        return False
    lacks = f"not wanted: {INTERPRETED} is set" if not wants_compiled() else missing()
    if lacks is not None:
        raise BuildFailed(lacks)
    output = _compile_apart(files).strip()
    if not is_whole(folder):
        raise BuildFailed(output or "the compilation has ended")
    return True


def compile_files(text: str) -> None:
    """Compile the files of `as_json`, for `compile_with`. Print why they cannot be compiled."""
    try:
        build_extended(from_json(text))
    except (BuildFailed, CacheRefused, OSError) as error:
        print(visible(str(error)))


def compile_engine() -> bool:
    """Compile the engine unless the cache has a whole build of the current sources. Return whether there is a build.

    One line on stderr announces the compilation, names a damaged build, or says why the engine cannot be compiled.
    """
    folder = engine_folder()
    if folder is not None and folder.name == build_name():
        return True
    try:
        if adopt_build(build_name()):
            return True
        if missing() is None:
            damaged = "the host engine in the cache is damaged; compiling it again: about a minute"
            line = damaged if has_damaged_engine() else "compiling the host engine: about a minute"
            print(line, file=sys.stderr, flush=True)
        build_engine()
    except (BuildFailed, CacheRefused, OSError) as error:
        print(visible(f"the host engine runs interpreted, several times slower: {error}"), file=sys.stderr, flush=True)
        return False
    return True


def adopt_build(name: str) -> bool:
    """Copy a build into root's cache from the cache of the tree's owner, and return whether one was copied.

    So `sudo` does not compile the engine a second time. Root executes the owner's sources in any case, so the owner's
    build of the same sources adds no risk. Nothing is copied if this process is not root, if the tree is root's, or if
    the user chose a cache by XDG_CACHE_HOME. Raises CacheRefused.
    """
    owner = ROOT.stat().st_uid
    if os.geteuid() != 0 or owner == 0 or os.environ.get("XDG_CACHE_HOME"):
        return False
    folder = private_cache() / name
    with suppress(OSError, KeyError):  # the owner has no home, no such build, or another process was faster
        build = Path(pwd.getpwuid(owner).pw_dir) / ".cache" / CACHE_NAME / name
        if build.stat().st_uid == owner and is_whole(build):
            with temporary_folder(UNFINISHED, folder.parent) as part:
                shutil.copytree(build, part / name, symlinks=True)
                discard(folder)  # a damaged build, or nothing
                (part / name).rename(folder)
            return True
    return False


def lacking() -> str | None:
    """Return why hosts run slower than possible and what to do about it, or None if they do not."""
    if not wants_compiled():
        return f"not wanted: {INTERPRETED} is set"
    folder = engine_folder()
    if folder is None:
        return missing() or f"not compiled yet, or its sources have changed; the next run does it, or {_compiler()}"
    algorithms = interpreted_algorithms(folder)
    return f"interpreted beside it: {', '.join(algorithms)}; {_compiler()} compiles what it can" if algorithms else None


def _compiler() -> str:
    """Return the command that compiles the engine, as a person types it."""
    return "make setup" if is_clone() else f"{sys.executable} -m {_MODULE}"
