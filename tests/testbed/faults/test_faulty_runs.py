# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests with complete runs in virtual time in which links fail: flows finish and every packet is accounted for."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from analysis.results.result import RunResult, counted
from testbed.errors import UsageError
from testbed.execution.execute import execute
from testbed.plan.plan import RunRequest, plan_run
from testbed.recording.outcome import Silent


def _run(folder: Path, *faults: str, scheme: str = "sfc", settings: tuple[str, ...] = ()) -> tuple[RunResult, Path]:
    request = RunRequest("incast", scheme, clock="virtual", faults=faults, settings=settings)
    finished = execute(plan_run(request), folder, Silent())
    return finished.result, finished.folder


@pytest.mark.parametrize("scheme", ["gbn", "irn", "pfc", "sfc", "sfc-p", "sfc+hpcc"])
def test_an_incast_survives_the_loss_of_an_uplink(tmp_path: Path, scheme: str) -> None:
    result, _ = _run(tmp_path, "link:tor2-spine1,down=20us,up=100us", scheme=scheme)
    assert (result.flows.completed, result.flows.corrupted) == (8, 0)
    assert counted(result.drops)["link_down"] > 0
    assert result.unexplained_loss == 0
    assert result.verdict == "faithful"


def test_routes_around_a_link_that_was_never_up_lose_nothing(tmp_path: Path) -> None:
    result, _ = _run(tmp_path, "link:tor1-spine1,down=0us,detect=0us")
    assert result.flows.completed == 8
    assert "link_down" not in counted(result.drops)
    assert counted(result.bts).sent > 0
    assert (result.flows.timeouts, result.flows.packets_resent) == (0, 0)


def test_a_longer_detection_loses_more(tmp_path: Path) -> None:
    lost = [
        counted(_run(tmp_path, f"link:tor2-spine1,down=20us,detect={detect}us")[0].drops)["link_down"]
        for detect in (1, 20, 80)
    ]
    assert lost == sorted(lost)
    assert lost[0] < lost[-1]


def test_flows_without_any_route_are_reported_as_unfinished(tmp_path: Path) -> None:
    """The receiver's ToR loses both uplinks permanently.

    After timeouts of 1.3 ms senders repeat packets, which are dropped for lack of a route.
    """
    faults = [f"link:tor2-spine{number},down=30us" for number in (1, 2)]
    request = RunRequest("incast", "sfc", clock="virtual", faults=faults, duration_ms=5.0)
    result = execute(plan_run(request), tmp_path, Silent()).result
    assert result.flows.completed < result.flows.total == 8
    assert counted(result.drops)["no_route"] > 0
    assert result.unexplained_loss == 0


def test_a_receiver_whose_link_was_down_for_a_while_gets_all_data(tmp_path: Path) -> None:
    result, _ = _run(tmp_path, "link:h16-tor2,down=30us,up=80us")
    assert (result.flows.completed, result.flows.corrupted, result.unexplained_loss) == (8, 0, 0)
    assert counted(result.drops)["link_down"] > 0


def test_a_run_does_not_wait_for_later_faults(tmp_path: Path) -> None:
    folders = [_run(tmp_path, f"link:tor2-spine1,down=20us,up={up}")[1] for up in ("1s", "3000s")]
    ends = [pl.read_parquet(folder / "queues.parquet")["time_us"].max() for folder in folders]
    assert ends[0] == ends[1]


def test_equal_seeds_give_equal_traces(tmp_path: Path) -> None:
    folders = [_run(tmp_path, "link:tor2-spine1,down=20us,up=100us")[1] for _ in range(2)]
    for name in ("flows", "queues", "signals", "goodput"):
        first, second = (pl.read_parquet(folder / f"{name}.parquet") for folder in folders)
        assert first.equals(second)


def test_the_run_can_be_repeated_from_its_config(tmp_path: Path) -> None:
    spec = "link:tor2-spine1,down=20us,up=100us"
    config = plan_run(RunRequest("incast", clock="virtual", faults=(spec,))).config
    assert [(fault.spec, fault.begin_us, fault.end_us) for fault in config.faults] == [
        (f"{spec},detect=50us", 20.0, 100.0)
    ]
    assert f"--fault {spec}" in config.command
    _, folder = _run(tmp_path, spec)
    assert "tor2-spine1 down" in (folder / "report.html").read_text()


def test_a_fault_at_an_unknown_node_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--fault link:tor9-spine1: no node 'tor9' in this network"):
        plan_run(RunRequest("incast", clock="virtual", faults=("link:tor9-spine1,down=1us",)))
