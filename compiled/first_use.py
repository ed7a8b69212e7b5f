# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""When the engine is compiled: at set-up; where there was none, by the first verb that is about to run hosts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from compiled.adopted import adopt_build
from compiled.build import BuildFailed, build_engine, missing
from compiled.cache import CacheRefused
from compiled.modules import (
    INTERPRETED,
    engine_folder,
    has_damaged_engine,
    interpreted_algorithms,
    wants_compiled,
)
from compiled.sources import ROOT, build_name
from compiled.visible import visible

_COMMAND = ROOT / "runner.py"
_MODULE = "compiled"


def prepare() -> None:
    """For the command, once what was typed is found right: has the engine compiled if it wants one and there is none.

    Then the command begins again as it was typed: by now it has loaded the sources, and a process has one kind of
    modules.
    """
    if Path(sys.argv[0]).resolve() != _COMMAND or not wants_compiled():
        return
    if engine_folder() is not None and not has_damaged_engine():
        return
    _compile_apart()
    if engine_folder() is not None:
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))  # until its first lines hear them
        os.execv(sys.executable, [sys.executable, *sys.argv])


def _compile_apart() -> None:
    """In processes of its own, which end with an interruption, and of which nothing stays then."""
    compiling = subprocess.Popen([sys.executable, "-m", _MODULE], cwd=ROOT, start_new_session=True)
    try:
        compiling.wait()
    except KeyboardInterrupt:
        os.killpg(compiling.pid, signal.SIGINT)
        compiling.wait()
        raise


def compile_engine() -> bool:
    """Compile the engine unless the cache has a whole build of just these sources, and return whether it has one then.

    One line on stderr says that the compiler takes its time, that a damaged build is made again, or why there is none.
    """
    folder = engine_folder()
    if folder is not None and folder.name == build_name():
        return True
    try:
        if adopt_build(build_name()):
            return True
        if missing() is None:
            damaged = "the host engine in the cache is damaged; compiling it again: about a minute"
            line = damaged if has_damaged_engine() else "compiling the host engine, once: about a minute"
            print(line, file=sys.stderr, flush=True)
        build_engine()
    except (BuildFailed, CacheRefused, OSError) as error:
        print(visible(f"the host engine runs interpreted, several times slower: {error}"), file=sys.stderr, flush=True)
        return False
    return True


def lacking() -> str | None:
    """Why hosts run slower than they could, and what to do about it; None if they do not."""
    if not wants_compiled():
        return f"not wanted: {INTERPRETED} is set"
    folder = engine_folder()
    if folder is None:
        return missing() or "not compiled yet, or its sources have changed; the next run does it, or make setup"
    algorithms = interpreted_algorithms(folder)
    return f"interpreted beside it: {', '.join(algorithms)}; make setup compiles what it can" if algorithms else None
