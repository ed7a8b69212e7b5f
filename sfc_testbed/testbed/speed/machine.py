# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The properties of this machine that determine the speed of live runs; a calibration is valid while they stay."""

from __future__ import annotations

import hashlib
import platform
from dataclasses import astuple, dataclass
from pathlib import Path

from sfc_testbed.testbed.system.limits import cores, quota_cores


@dataclass(frozen=True, slots=True)
class Machine:
    """Processor, kernel and limits of this process."""

    cpu_model: str
    cores: int
    """Cores that this process may use (`taskset`)."""
    quota_cores: float | None
    """Processor time that the control groups of this process allow, in cores; None without a visible limit."""
    kernel: str

    @property
    def key(self) -> str:
        """Eight hexadecimal digits, different for different machines."""
        return hashlib.sha256(repr(astuple(self)).encode()).hexdigest()[:8]


def this_machine() -> Machine:
    """Return the current properties."""
    return Machine(_cpu_model(), cores(), quota_cores(), platform.release())


def _cpu_model() -> str:
    """Return the name in /proc/cpuinfo, or the architecture if there is no name, as on ARM."""
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()
