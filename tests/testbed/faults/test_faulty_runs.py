# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests with complete runs in virtual time in which links fail: flows finish and every packet is accounted for."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.results.result import counted
from testbed.errors import UsageError
from tests.testbed.incasts import assert_same_traces, plan_incast, run_incast, trace

ALL_IMPAIRMENTS = (
    "loss:all,rate=0.2%",
    "corrupt:all,rate=0.2%",
    "duplicate:all,rate=1%",
    "reorder:all,rate=0.2%,by=200ns",
    "jitter:all,max=200ns",
    "bts-loss:all,rate=50%",
    "link:tor2-spine1,down=60us,up=70us",
)


@pytest.mark.parametrize("scheme", ["gbn", "irn", "pfc", "sfc", "sfc-p", "sfc+hpcc"])
def test_an_incast_survives_the_loss_of_an_uplink(tmp_path: Path, scheme: str) -> None:
    result = run_incast(tmp_path, scheme, faults=("link:tor2-spine1,down=20us,up=100us",)).result
    assert (result.flows.completed, result.flows.corrupted) == (8, 0)
    assert counted(result.drops)["link_down"] > 0
    assert result.unexplained_loss == 0
    assert result.verdict == "faithful"


def test_routes_around_a_link_that_was_never_up_lose_nothing(tmp_path: Path) -> None:
    result = run_incast(tmp_path, faults=("link:tor1-spine1,down=0us,detect=0us",)).result
    assert result.flows.completed == 8
    assert "link_down" not in counted(result.drops)
    assert counted(result.bts).sent > 0
    assert (result.flows.timeouts, result.flows.packets_resent) == (0, 0)


def test_a_longer_detection_loses_more(tmp_path: Path) -> None:
    faults = [f"link:tor2-spine1,down=20us,detect={detect}us" for detect in (1, 20, 80)]
    lost = [counted(run_incast(tmp_path, faults=(fault,)).result.drops)["link_down"] for fault in faults]
    assert lost == sorted(lost)
    assert lost[0] < lost[-1]


def test_flows_without_any_route_are_reported_as_unfinished(tmp_path: Path) -> None:
    """The receiver's ToR loses both uplinks permanently.

    After timeouts of 1.3 ms senders repeat packets, which are dropped for lack of a route.
    """
    faults = [f"link:tor2-spine{number},down=30us" for number in (1, 2)]
    result = run_incast(tmp_path, faults=faults, duration_ms=5.0).result
    assert result.flows.completed < result.flows.total == 8
    assert counted(result.drops)["no_route"] > 0
    assert result.unexplained_loss == 0


def test_a_receiver_whose_link_was_down_for_a_while_gets_all_data(tmp_path: Path) -> None:
    result = run_incast(tmp_path, faults=("link:h16-tor2,down=30us,up=80us",)).result
    assert (result.flows.completed, result.flows.corrupted, result.unexplained_loss) == (8, 0, 0)
    assert counted(result.drops)["link_down"] > 0


def test_a_run_does_not_wait_for_later_faults(tmp_path: Path) -> None:
    runs = [run_incast(tmp_path, faults=(f"link:tor2-spine1,down=20us,up={up}",)) for up in ("1s", "3000s")]
    ends = [trace(run, "queues")["time_us"].max() for run in runs]
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    "faults",
    [
        ("link:tor2-spine1,down=20us,up=100us",),
        ("restart:tor2,at=30us",),
        ("stall:tor2,at=30us,for=40us,ring=9",),
        ("stall:h16,at=30us,for=9us",),
        ALL_IMPAIRMENTS,
    ],
    ids=lambda faults: faults[0],
)
def test_equal_seeds_give_equal_traces(tmp_path: Path, faults: tuple[str, ...]) -> None:
    assert_same_traces(*(run_incast(tmp_path, faults=faults) for _ in range(2)))


def test_the_run_can_be_repeated_from_its_config(tmp_path: Path) -> None:
    spec = "link:tor2-spine1,down=20us,up=100us"
    config = plan_incast(faults=(spec,)).config
    assert [(fault.spec, fault.begin_us, fault.end_us) for fault in config.faults] == [
        (f"{spec},detect=50us", 20.0, 100.0)
    ]
    assert f"--fault {spec}" in config.command
    assert "tor2-spine1 down" in (run_incast(tmp_path, faults=(spec,)).folder / "report.html").read_text()


def test_a_fault_at_an_unknown_node_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--fault link:tor9-spine1: no node 'tor9' in this network"):
        plan_incast(faults=("link:tor9-spine1,down=1us",))
