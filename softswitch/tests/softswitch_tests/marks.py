# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Marks of tests that need privileges or tools, and the profile of hypothesis."""

import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import settings


def skip_without_root(items: list[pytest.Item]) -> None:
    """Skip the tests marked `root` for other users."""
    if os.geteuid() != 0:
        for item in items:
            if item.get_closest_marker("root"):
                item.add_marker(pytest.mark.skip(reason="needs root"))


def use_no_wall_time() -> None:
    """Let no test of hypothesis fail because the machine is slow."""
    settings.register_profile("no wall time", deadline=None)
    settings.load_profile("no wall time")


def needs_namespaces() -> list[pytest.MarkDecorator]:
    """Return the marks of tests that use interfaces in network namespaces of their own."""
    return [pytest.mark.root, pytest.mark.skipif(not _can_make_namespaces(), reason="needs network namespaces")]


def needs_tc(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that uses `tc` in a network namespace of its own."""
    for mark in (*needs_namespaces(), pytest.mark.skipif(shutil.which("tc") is None, reason="needs tc")):
        test = mark(test)
    return test


@cache
def _can_make_namespaces() -> bool:
    if os.geteuid() != 0:
        return False
    return subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False).returncode == 0
