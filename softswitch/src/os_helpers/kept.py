# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Files and folders of the cache with a digest of their content, by which damage is detected and repaired.

A file has the digest in its name. A folder has the digests of its files in `DIGESTS`. Both appear complete, by a
rename. Two processes may create the same entry at the same time, and either result is valid.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from os_helpers.cache import UNFINISHED
from os_helpers.temporary import temporary_folder
from os_helpers.visible import visible

DIGESTS = "digests.json"
"""The file in a folder with the size, the time of the last change in ns, and the SHA-256 of each other file."""
DIGITS = 24
_DIGEST = re.compile(f"[0-9a-f]{{{DIGITS}}}")


class CacheGone(Exception):
    """The removal of files of the cache while they were in use."""


def kept_file(folder: Path, name: str, suffix: str, make: Callable[[Path], object]) -> Path:
    """Return the file `NAME-DIGEST SUFFIX` of a folder, and call `make` to write it unless a whole one exists.

    One line on stderr names a damaged file. Raise CacheGone if the folder is removed meanwhile.
    """
    existing = whole_file(folder, name, suffix)
    return make_file(folder, name, suffix, make) if existing is None else existing


def whole_file(folder: Path, name: str, suffix: str) -> Path | None:
    """Return the whole file of that name, or None. Damaged ones are removed, with a line on stderr."""
    with suppress(FileNotFoundError):
        for entry in sorted(entry for entry in os.listdir(folder) if entry.startswith(name)):  # noqa: PTH208 (fast)
            path, content = folder / entry, entry.removeprefix(f"{name}-").removesuffix(suffix)
            if entry != f"{name}-{content}{suffix}" or not _DIGEST.fullmatch(content):
                continue
            if _has_content(path, content):
                return path
            print(visible(f"{path} is damaged and is made again"), file=sys.stderr, flush=True)
            discard(path)
    return None


def _has_content(path: Path, digest: str) -> bool:
    try:
        return file_digest(path) == digest
    except OSError:  # unreadable, or a folder
        return False


def make_file(folder: Path, name: str, suffix: str, make: Callable[[Path], object]) -> Path:
    """Let `make` write a file in a temporary folder, move it to its place and return the place.

    Raise CacheGone if `folder` is removed.
    """
    with _removal_noticed(folder), temporary_folder(UNFINISHED, folder) as work, _removal_noticed(work):
        part = work / f"{name}{suffix}"
        make(part)
        final = folder / f"{name}-{file_digest(part)}{suffix}"
        part.replace(final)
        return final


@contextmanager
def _removal_noticed(folder: Path) -> Iterator[None]:
    """Raise CacheGone for an error that happens after the folder was removed."""
    try:
        yield
    except Exception as error:
        if folder.is_dir():
            raise
        raise CacheGone(f"{folder} was removed while it was used") from error


def seal(folder: Path) -> None:
    """Write the digests of all files of a folder into it."""
    digests = {path.name: (*_stamp(path), file_digest(path)) for path in sorted(folder.iterdir())}
    (folder / DIGESTS).write_text(json.dumps(digests, indent=1), encoding="utf-8")


def is_whole(folder: Path) -> bool:
    """Return whether a folder is readable and has exactly the files that it was sealed with.

    A file with unchanged size and time counts as unchanged, because every process that runs hosts checks this at start.
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
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def file_digest(path: Path) -> str:
    """Return the first digits of the SHA-256 of a file's content."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:DIGITS]


def text_digest(*parts: str) -> str:
    """Return the first digits of the SHA-256 of texts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:DIGITS]


def discard(path: Path) -> None:
    """Remove a file, a link, or a folder with its content. A missing path is ignored."""
    if path.is_dir() and not path.is_symlink():
        with suppress(FileNotFoundError):
            path.chmod(0o700)
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
