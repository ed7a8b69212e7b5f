# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Root's copy of the engine compiled by the owner of the tree, so that `sudo` does not compile it a second time.

Root executes the owner's sources in any case, so the owner's build of the same sources adds no risk.
"""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

from native.cache import CACHE_NAME, private_cache
from native.kept import discard, is_whole
from native.sources import ROOT


def adopt_build(name: str) -> bool:
    """Copy a build into root's cache from the cache of the tree's owner, and return whether one was copied.

    Nothing is copied unless this process is root in the tree of another user, or if XDG_CACHE_HOME names a cache, which
    then holds only what was put there. Raises CacheRefused.
    """
    owner = ROOT.stat().st_uid
    if os.geteuid() != 0 or owner == 0 or os.environ.get("XDG_CACHE_HOME"):
        return False
    folder = private_cache() / name
    with suppress(OSError, KeyError):  # the owner has no home, no such build, or another process was faster
        build = Path(pwd.getpwuid(owner).pw_dir) / ".cache" / CACHE_NAME / name
        if build.stat().st_uid == owner and is_whole(build):
            with tempfile.TemporaryDirectory(prefix=".build-", dir=folder.parent) as part:
                shutil.copytree(build, Path(part) / name, symlinks=True)
                discard(folder)  # a damaged build, or nothing
                (Path(part) / name).rename(folder)
            return True
    return False
