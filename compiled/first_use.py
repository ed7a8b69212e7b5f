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
from compiled.modules import INTERPRETED, engine_folder, interpreted_algorithms, wants_compiled
from compiled.sources import ROOT, build_name

_COMMAND = ROOT / "runner.py"
_MODULE = "compiled"


def prepare() -> None:
    """For the command, once what was typed is found right: has the engine compiled if it wants one and there is none.

    Then the command begins again as it was typed: by now it has loaded the sources, and a process has one kind of
    modules.
    """
    if Path(sys.argv[0]).resolve() != _COMMAND or not wants_compiled() or engine_folder() is not None:
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
    """Unless there is a build of just these sources. One line where that takes long or cannot be done: False then."""
    folder = engine_folder()
    if folder is not None and folder.name == build_name():
        return True
    try:
        if adopt_build(build_name()):
            return True
        if missing() is None:
            print("compiling the host engine, once: about a minute", file=sys.stderr, flush=True)
        build_engine()
    except (BuildFailed, CacheRefused, OSError) as error:
        print(f"the host engine runs interpreted, several times slower: {error}", file=sys.stderr, flush=True)
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
