# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Installed packages: their versions, and the extensions that they name by entry points.

Every command looks for extensions. Python's `importlib.metadata` takes ten times as long to load as the folders of
packages take to read, so it is used only for what the names of files do not say.
"""

from __future__ import annotations

import os
import pathlib
import sys
from collections.abc import Iterator
from contextlib import suppress

GROUP = "sfc_testbed.extensions"
"""The group of entry points by which installed packages name their extensions."""
_FILE = "entry_points.txt"
_KINDS = ("dist-info", "egg-info")


def installed_modules() -> list[str]:
    """Return the modules that installed packages name by entry points."""
    if not any(GROUP.encode() in text for text in _entry_points()):
        return []
    from importlib import metadata

    return sorted({entry.value.partition(":")[0] for entry in metadata.entry_points(group=GROUP)})


def version_of(package: str) -> str | None:
    """Return the version of an installed package, or None if it is not installed."""
    begin, end = f"{package.replace('-', '_')}-", ".dist-info"
    for folder in sys.path:
        with suppress(OSError):
            for name in os.listdir(folder or "."):  # noqa: PTH208
                if name.startswith(begin) and name.endswith(end):
                    return name.removeprefix(begin).removesuffix(end)
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _entry_points() -> Iterator[bytes]:
    """Yield the lists of entry points in the folders of packages. An archive of packages counts as one with ours."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208 (a Path for each name is slow)
        except NotADirectoryError:
            yield GROUP.encode()
        except OSError:
            continue
        else:
            for name in names:
                if name.lower().endswith(_KINDS):
                    with suppress(OSError), pathlib.Path(f"{folder or '.'}/{name}/{_FILE}").open("rb") as file:
                        yield file.read()
