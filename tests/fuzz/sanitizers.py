# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Environment of processes that load C code built with ASan and UBSan."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path


class NoSanitizers(Exception):
    """The C compiler has no sanitizer libraries."""


@cache
def environment() -> Mapping[str, str]:
    """Return the environment of such a process. Raise NoSanitizers if the compiler lacks a library."""
    libraries = " ".join(_library(name) for name in ("libasan.so", "libubsan.so"))
    return {
        **os.environ,
        "LD_PRELOAD": libraries,
        # The interpreter frees memory only at its end. Leaks of the switch are checked in the switch's own process.
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
