# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The properties of a machine for which a calibration is valid."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sfc_testbed.testbed.speed.machine import Machine, this_machine
from sfc_testbed.testbed.system import limits


@pytest.mark.parametrize("change", [{"cores": 3}, {"kernel": "7.0"}, {"cpu_model": "Z80"}, {"quota_cores": 0.25}])
def test_every_property_changes_the_key(change: dict[str, object]) -> None:
    machine_data = Machine("6502", 2, None, "6.1")
    assert replace(machine_data, **change).key != machine_data.key  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("own_groups", "files", "quota_cores"),
    [
        ("0::/a/b\n", {"a/cpu.max": "150000 100000\n", "a/b/cpu.max": "max 100000\n"}, 1.5),
        (
            "3:cpuset:/\n2:cpu,cpuacct:/docker\n",
            {"cpu,cpuacct/docker/cpu.cfs_quota_us": "25000\n", "cpu,cpuacct/docker/cpu.cfs_period_us": "100000\n"},
            0.25,
        ),
        (
            "1:cpu:/\n0::/\n",
            {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n", "cpu.max": "max 100000"},
            None,
        ),
    ],
    ids=["the least quota of a group and its parents", "the first version of control groups", "no limit"],
)
def test_quotas_of_control_groups_count(
    own_groups: str, files: dict[str, str], quota_cores: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").write_text(own_groups)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(limits, "_CGROUPS", tmp_path)
    monkeypatch.setattr(limits, "_OWN_GROUPS", tmp_path / "own")
    assert this_machine().quota_cores == quota_cores


def test_this_machine_names_its_processor_and_stays_the_same() -> None:
    assert this_machine().cpu_model
    assert this_machine() == this_machine()
