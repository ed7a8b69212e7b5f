# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The number of workers that is chosen from the plan."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sfc_testbed.api.planning import with_workers
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import CONFIG_FILE, RunSpec, config_of
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.virtual import worker_choice
from sfc_testbed.testbed.virtual.worker_choice import best_workers
from tests.testbed.incasts import run_plan


def _plan(scenario: str, *settings: str, **more: Any) -> Any:
    return plan_run(RunSpec(scenario, "sfc", settings=parse_settings(settings), **{"clock": "virtual", **more}))


def _never() -> int:
    pytest.fail("the load of the machine does not matter")


def test_many_packets_per_round_are_shared() -> None:
    plan = _plan("hadoop-50", "arrivals_us=300", scale="paper")
    assert [best_workers(plan, cores, lambda: 64) for cores in (1, 2)] == [1, 2]
    assert best_workers(plan, 64, lambda: 64) <= len({host.switch for host in plan.topology.hosts})


def test_a_run_is_shared_only_by_idle_cores() -> None:
    plan = _plan("hadoop-50", "arrivals_us=300", scale="paper")
    assert [best_workers(plan, 64, partial(int, idle)) for idle in (1, 2)] == [1, 2]


@pytest.mark.parametrize(
    ("scenario", "settings", "scale"),
    [
        ("incast", (), "ci"),
        ("hadoop-50", (), "ci"),
        ("incast", ("degree=64", "message_bytes=12500000"), "paper"),
    ],
)
def test_short_runs_and_runs_with_few_packets_per_round_are_not_shared(
    scenario: str, settings: tuple[str, ...], scale: str
) -> None:
    assert best_workers(_plan(scenario, *settings, scale=scale), 8, _never) == 1


def test_live_runs_are_not_shared() -> None:
    assert best_workers(_plan("incast", clock="real", dilation=10_000), 8, _never) == 1
    with pytest.raises(UsageError, match="only a run in virtual time"):
        with_workers(_plan("incast", clock="real", dilation=10_000), 2)


def test_the_configuration_has_the_chosen_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job is planned without this choice: it gets one process, because other jobs use the other cores."""
    monkeypatch.setattr(worker_choice, "PACKET_NS", 10**9)
    for name in ("cores", "idle_cores"):
        monkeypatch.setattr(f"sfc_testbed.api.planning.{name}", lambda: 2)
    plan = _plan("incast")
    assert plan.config.workers == 1
    run = run_plan(with_workers(plan, None), tmp_path)
    assert config_of((run.folder / CONFIG_FILE).read_text()).workers == 2
    assert (run.folder / "logs" / "worker2.log").exists()
