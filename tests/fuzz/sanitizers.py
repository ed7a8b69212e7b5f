# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a process needs to hold C that is built for ASan and UBSan."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path


class NoSanitizers(Exception):
    """The C compiler has none."""


@cache
def environment() -> Mapping[str, str]:
    """The environment of such a process. Raises NoSanitizers."""
    libraries = " ".join(_library(name) for name in ("libasan.so", "libubsan.so"))
    return {
        **os.environ,
        "LD_PRELOAD": libraries,
        # The interpreter keeps memory to the end; leaks of the switch are looked for in its own process.
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


def _library(name: str) -> str:
    compiler = os.environ.get("CC", "cc")
    done = subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    path = Path(done.stdout.strip())
    if not path.is_absolute():
        raise NoSanitizers(f"{compiler} has no {name}")
    return str(path)
