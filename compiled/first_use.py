# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""When the engine is compiled: at set-up, and by the first verb that runs hosts where the set-up has not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

from compiled.build import BuildFailed, build_engine, missing
from compiled.cache import CacheRefused
from compiled.modules import INTERPRETED, engine_folder, interpreted_algorithms, wants_compiled
from compiled.sources import ROOT, build_name

_VERBS_WITH_HOSTS = ("run", "compare", "validate", "reproduce", "sweep", "cli")
_MODULE = "compiled"


def prepare(words: Sequence[str]) -> None:
    """For a command line: has the engine compiled if it will want it and there is none, in a process of its own.

    So that whoever is interrupted meanwhile may end at once.
    """
    has_hosts = bool(words) and words[0] in _VERBS_WITH_HOSTS and "--help" not in words
    if has_hosts and wants_compiled() and engine_folder() is None:
        subprocess.run([sys.executable, "-m", _MODULE], cwd=ROOT, check=False)


def compile_engine() -> bool:
    """Unless there is a build of just these sources. One line where that takes long or cannot be done: False then."""
    folder = engine_folder()
    if folder is not None and folder.name == build_name():
        return True
    try:
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
