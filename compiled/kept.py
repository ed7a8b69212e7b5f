# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Files and folders of the cache that carry a digest of their content: a damaged one is noticed and made again.

A file has the digest in its name, a folder has the digests of its files in `DIGESTS`. Both appear whole, by a rename:
two processes may make the same entry at once, and either result is good.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

from compiled.visible import visible

DIGESTS = "digests.json"
"""In a folder: file -> size, time of the last change in ns, SHA-256."""
DIGITS = 24
_DIGEST = re.compile(f"[0-9a-f]{{{DIGITS}}}")


class CacheGone(Exception):
    """Files of the cache were removed while they were used."""


def kept_file(folder: Path, name: str, suffix: str, make: Callable[[Path], object]) -> Path:
    """Return the file `NAME-CONTENT SUFFIX` of a folder; `make` writes the file unless a whole one is there.

    One line on stderr says that a damaged file is made again. CacheGone if the folder vanishes meanwhile.
    """
    found = whole_file(folder, name, suffix)
    return make_file(folder, name, suffix, make) if found is None else found


def whole_file(folder: Path, name: str, suffix: str) -> Path | None:
    """Return the whole file of that name, if there is one; damaged ones are removed, and a line on stderr says so."""
    with suppress(FileNotFoundError):
        for path in sorted(folder.iterdir()):
            content = path.name.removeprefix(f"{name}-").removesuffix(suffix)
            if path.name != f"{name}-{content}{suffix}" or not _DIGEST.fullmatch(content):
                continue
            if _has_content(path, content):
                return path
            tell_damage(path)
            discard(path)
    return None


def _has_content(path: Path, digest: str) -> bool:
    try:
        return file_digest(path) == digest
    except OSError:  # unreadable, or a folder
        return False


def make_file(folder: Path, name: str, suffix: str, make: Callable[[Path], object]) -> Path:
    """Have `make` write a file beside its place, and return the place. CacheGone if the folder vanishes meanwhile."""
    work = folder
    try:
        work = Path(mkdtemp(prefix=".build-", dir=folder))
        part = work / f"{name}{suffix}"
        make(part)
        final = folder / f"{name}-{file_digest(part)}{suffix}"
        part.replace(final)
        return final
    except Exception as error:
        if work.is_dir():
            raise
        raise CacheGone(f"{folder} was removed while it was used") from error
    finally:
        if work != folder:
            shutil.rmtree(work, ignore_errors=True)


def seal(folder: Path) -> None:
    """Write the digests of all files of a folder into it."""
    found = {path.name: (*_stamp(path), file_digest(path)) for path in sorted(folder.iterdir())}
    (folder / DIGESTS).write_text(json.dumps(found, indent=1), encoding="utf-8")


def is_whole(folder: Path) -> bool:
    """Whether a folder has the files that it was sealed with, and can be read.

    A file with its old size and time is taken for unchanged: every process that runs hosts asks this at its start.
    """
    try:
        sealed = json.loads((folder / DIGESTS).read_bytes())
        names = {path.name for path in folder.iterdir()} - {DIGESTS}
        return names == set(sealed) != set() and all(_is_same(folder / name, *sealed[name]) for name in names)
    except (OSError, TypeError, ValueError):
        return False


def _is_same(path: Path, size_bytes: int, changed_ns: int, digest: str) -> bool:
    stamp = _stamp(path)
    if not path.is_file() or not os.access(path, os.R_OK) or stamp[0] != size_bytes:
        return False
    return stamp[1] == changed_ns or file_digest(path) == digest


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def file_digest(path: Path) -> str:
    """Return the first digits of the SHA-256 of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:DIGITS]


def tell_damage(path: Path) -> None:
    """Say on stderr that something in the cache is damaged."""
    print(visible(f"{path} is damaged and is made again"), file=sys.stderr, flush=True)


def discard(path: Path) -> None:
    """Remove a file, a link, or a folder with its content; the path may be gone already."""
    if path.is_dir() and not path.is_symlink():
        with suppress(FileNotFoundError):
            path.chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
