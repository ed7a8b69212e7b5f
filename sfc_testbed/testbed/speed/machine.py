# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The properties of this machine that determine the speed of live runs; a calibration is valid while they stay."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path, PurePosixPath

from sfc_testbed.testbed.system.limits import cores

_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_V1_FOLDERS = ("cpu", "cpu,cpuacct")


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
    return Machine(_cpu_model(), cores(), _quota_cores(), platform.release())


def _cpu_model() -> str:
    """Return the name in /proc/cpuinfo, or the architecture if there is no name, as on ARM."""
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.machine()


def _quota_cores() -> float | None:
    """Return the smallest quota of this process's control group and its parents, in both versions of control groups."""
    quotas = [quota for folder in _cpu_groups() if (quota := _quota_of(folder)) is not None]
    return min(quotas, default=None)


def _cpu_groups() -> Iterator[Path]:
    for line in _OWN_GROUPS.read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            mounts = [_CGROUPS, _CGROUPS / "unified"]
        elif "cpu" in controllers.split(","):
            mounts = [_CGROUPS / name for name in _V1_FOLDERS]
        else:
            continue
        path = PurePosixPath(group.lstrip("/"))
        for mount in mounts:
            yield from (mount / part for part in (path, *path.parents))


def _quota_of(folder: Path) -> float | None:
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text().strip()
        return None if quota in ("max", "-1") else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None
