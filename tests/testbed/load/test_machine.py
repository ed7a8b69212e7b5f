# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The properties of a machine for which a calibration is valid."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from testbed.load import machine
from testbed.load.machine import Machine, this_machine
from testbed.system.limits import cores


def test_the_machine_has_a_processor_and_cores() -> None:
    current = this_machine()
    assert current.cpu_model
    assert current.cores == cores()
    assert current == this_machine()


@pytest.mark.parametrize("change", [{"cores": 3}, {"kernel": "7.0"}, {"cpu_model": "Z80"}, {"quota_cores": 0.25}])
def test_every_property_changes_the_key(change: dict[str, object]) -> None:
    machine_data = Machine("6502", 2, None, "6.1")
    assert replace(machine_data, **change).key != machine_data.key  # type: ignore[arg-type]


def _groups(
    folder: Path, own_groups: str, quotas: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> float | None:
    """Return the quota for these contents of /proc/self/cgroup and of the control groups."""
    process = folder / "cgroup"
    process.write_text(own_groups)
    for group, files in quotas.items():
        (folder / group).mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / group / name).write_text(text)
    monkeypatch.setattr(machine, "_CGROUPS", folder)
    monkeypatch.setattr(machine, "_OWN_GROUPS", process)
    return this_machine().quota_cores


def test_the_least_quota_of_a_group_and_its_parents_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quotas = {"a": {"cpu.max": "150000 100000\n"}, "a/b": {"cpu.max": "max 100000\n"}}
    assert _groups(tmp_path, "0::/a/b\n", quotas, monkeypatch) == 1.5


def test_quotas_of_the_first_version_of_control_groups_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"cpu.cfs_quota_us": "25000\n", "cpu.cfs_period_us": "100000\n"}
    own_groups = "3:cpuset:/\n2:cpu,cpuacct:/docker\n"
    assert _groups(tmp_path, own_groups, {"cpu,cpuacct/docker": files}, monkeypatch) == 0.25


def test_without_a_limit_there_is_no_quota(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {"cpu.cfs_quota_us": "-1\n", "cpu.cfs_period_us": "100000\n"}
    assert _groups(tmp_path, "1:cpu:/\n0::/\n", {"cpu": files, ".": {"cpu.max": "max 100000"}}, monkeypatch) is None
