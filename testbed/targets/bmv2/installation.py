# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Which BMv2 this machine offers: `simple_switch` on the PATH, else the image of the P4 project where Docker runs."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass

OLDEST = (1, 15, 1)
"""The first version with priority queues whose priority is that of the program (docs/bmv2.md)."""

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


@dataclass(frozen=True, slots=True)
class Installation:
    """A BMv2 that is new enough; `path` None is the image."""

    version: str
    path: str | None


def find_bmv2() -> Installation | str:
    """Return the BMv2 to use, or one line that says what is missing and what to do."""
    path = shutil.which("simple_switch")
    if path is not None:
        return _judged(path, _version_of(path))
    from testbed.targets.bmv2 import container  # Docker's module is slow to load, and rarely wanted

    missing = container.missing_docker()
    if missing is None:
        return _judged(None, container.image_version())
    return f"no simple_switch on the PATH, and {missing}; run tools/provision.sh p4"


def missing_bmv2() -> str | None:
    """None if there is a BMv2 that will do, else what is missing."""
    found = find_bmv2()
    return found if isinstance(found, str) else None


def _judged(path: str | None, printed: str) -> Installation | str:
    name = path or "Docker's image of BMv2"
    numbers = _VERSION.search(printed)
    if numbers is None:
        return f"{name} does not say its version"
    if tuple(map(int, numbers.groups())) < OLDEST:
        return f"{name} is version {numbers.group()}; {'.'.join(map(str, OLDEST))} is the oldest that will do"
    return Installation(numbers.group(), path)


def _version_of(path: str) -> str:
    done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return done.stdout + done.stderr
