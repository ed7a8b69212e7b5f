# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The versions of everything that can affect results."""

from __future__ import annotations

import platform
from importlib import metadata


def versions() -> dict[str, str]:
    """Return the versions of this package, Python, the kernel, and packages that affect results."""
    result = {"python": platform.python_version(), "kernel": platform.release()}
    for package in ("sfc-testbed", "numpy", "polars"):
        try:
            result[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            result[package] = "not installed"
    return result
