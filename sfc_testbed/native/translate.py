# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m sfc_testbed.native.translate FOLDER SOURCE...`: translates Python to C without compiling it.

The C files go to FOLDER, and the list of extension modules with their files to FOLDER/extensions.json. This is a
separate process because mypyc ends the process on errors.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import setuptools  # noqa: F401  before mypyc, which uses setuptools or distutils, whichever is loaded
from mypyc.build import mypycify

from sfc_testbed.native.sources import EXTENSIONS, GROUP

_OPTIONS = ("--config-file=", "--follow-imports=skip", "--ignore-missing-imports", "--no-warn-unused-configs")


def main(folder: str, sources: list[str]) -> None:
    """Translate the sources as modules of one group. On errors, exit with mypy's messages on stdout."""
    words = [*_OPTIONS, f"--cache-dir={folder}/mypy", *sources]
    extensions = mypycify(words, target_dir=folder, group_name=GROUP, include_runtime_files=True)
    described = [
        {
            "name": extension.name,
            "sources": list(extension.sources),
            "include_dirs": list(extension.include_dirs),
            "flags": list(extension.extra_compile_args),
        }
        for extension in extensions
    ]
    (Path(folder) / EXTENSIONS).write_text(json.dumps(described), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
