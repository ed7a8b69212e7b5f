# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Predicted load and lateness, and the choice of the dilation."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.control_plane.commands import MoreEntries, SwitchCommands, network_commands
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan import fixed_point
from sfc_testbed.testbed.plan.dilations import MAX_DILATION, VIRTUAL_DILATION
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.speed.costs import SWITCH_COSTS, MessageCost, ProcessCost, Wakeups, built_in
from sfc_testbed.testbed.speed.dilation import (
    LATE_SHARE,
    MAX_AUTOMATIC_DILATION,
    LoadModel,
    least_dilation,
    with_dilation,
)
from sfc_testbed.testbed.speed.dry_run import BINS_PER_RTT, dry_run
from sfc_testbed.testbed.speed.stored import store
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.physics import WINDOWS_PER_RTT, departure_window_ns
from sfc_testbed.wire.dilation import Dilation, next_step
from tests.testbed.speed.calibrations import calibration
from tests.tree import ROOT

COSTS = built_in(2)
SOFT = SWITCH_COSTS["soft"]
STEPS = sorted({next_step(number * 10**power) for power in range(1, 5) for number in range(1, 10)})


def _plan(scheme: str = "sfc", *settings: str, dilation: int | None = None) -> RunPlan:
    return with_dilation(
        plan_run(RunSpec("incast", scheme=scheme, settings=parse_settings(settings), dilation=dilation))
    )


@pytest.mark.parametrize("scheme", ["irn", "sfc", "egress-bts"])
def test_slower_is_never_busier_nor_later(scheme: str) -> None:
    model = LoadModel(dry_run(_plan(scheme)), COSTS, SOFT, telemetry=False)
    predictions = [model.at(step) for step in STEPS]
    loads = [prediction.peak_load for prediction in predictions]
    lates = [prediction.late_share for prediction in predictions]
    assert loads == sorted(loads, reverse=True)
    assert lates == sorted(lates, reverse=True)
    assert lates[0] > LATE_SHARE > lates[-1]


def test_the_least_step_is_enough_and_the_one_before_is_not() -> None:
    plan = _plan()
    window_ns = departure_window_ns(plan.topology)
    model = LoadModel(dry_run(plan), COSTS, SOFT, telemetry=False, window_ns=window_ns)
    least = least_dilation(model, MAX_DILATION)
    before = max(step for step in STEPS if step < least)
    assert model.at(least).is_enough
    assert not model.at(before).is_enough
    assert plan.config.dilation == least


def test_expensive_frames_and_late_sleepers_need_a_larger_dilation() -> None:
    traffic = dry_run(_plan())

    def least(switch: ProcessCost = SOFT, **changes: object) -> int:
        costs = COSTS.model_copy(update=changes)
        return least_dilation(LoadModel(traffic, costs, switch, telemetry=False), MAX_DILATION)

    assert least(agent=COSTS.agent.times(4)) > least()
    assert least(SOFT.times(4)) > least()
    assert least(runner_share=1.2) > least()
    assert least(message=MessageCost(agent_ns=5e8, runner_ns=0)) > least()
    assert least(message=MessageCost(agent_ns=0, runner_ns=1e9)) > least()
    assert least(capacity_cores=1) > least()
    late = {"agent": COSTS.wakeups["agent"].model_copy(update={"p99_ns": 50_000_000})}
    assert least(wakeups=late) == 500_000  # 50 ms are at most LATE_SHARE of a base RTT of 10 us
    assert 50e6 / (10e3 * 500_000) <= LATE_SHARE < 50e6 / (10e3 * 300_000)


def test_a_process_has_only_one_core() -> None:
    """A machine with a hundred cores is limited by a single agent that serves all hosts."""
    costs = COSTS.model_copy(update={"capacity_cores": 100, "runner_share": 0})
    free = ProcessCost(frame_ns=1, lone_frame_ns=1, fixed_share=0)
    model = LoadModel(dry_run(_plan()), costs, free, telemetry=False)
    assert model.at(1_000).peak_load < 0.1
    assert not model.at(1_000).is_enough


def test_frames_that_leave_together_are_late_by_a_window() -> None:
    traffic, window_ns = dry_run(_plan()), 100
    free = COSTS.model_copy(update={"wakeups": {}})
    exact, windowed = (LoadModel(traffic, free, SOFT, telemetry=False, window_ns=ns).at(1e6) for ns in (0, window_ns))
    base_rtt_ns = traffic.bin_ns * BINS_PER_RTT
    assert windowed.late_share - exact.late_share == pytest.approx(window_ns / base_rtt_ns)


def test_telemetry_makes_packets_more_expensive() -> None:
    traffic = dry_run(_plan("sfc+hpcc"))
    plain, with_telemetry = (
        LoadModel(traffic, COSTS, SOFT, telemetry=telemetry).at(5_000) for telemetry in (False, True)
    )
    assert with_telemetry.peak_load > plain.peak_load


def test_config_says_what_was_chosen_and_why() -> None:
    chosen = _plan().config.dilation_choice
    assert chosen is not None
    assert (chosen.calibrated, chosen.enough) == ("2026-11-22", None)
    assert 0 < chosen.late_share <= LATE_SHARE
    typed = _plan(dilation=500).config
    assert typed.dilation == 500
    assert typed.dilation_choice is not None
    assert typed.dilation_choice.late_share > LATE_SHARE
    assert typed.dilation_choice.enough == _plan().config.dilation
    virtual = plan_run(RunSpec("incast", clock="virtual")).config
    assert (virtual.dilation, virtual.dilation_choice) == (VIRTUAL_DILATION, None)


def test_an_automatic_run_makes_its_entries_for_the_dry_run_and_at_the_chosen_dilation_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = []

    def noting(
        topology: Topology, settings: SwitchSettings, dilation: Dilation, *, seed: int, more: MoreEntries
    ) -> SwitchCommands:
        made.append(dilation.factor)
        return network_commands(topology, settings, dilation, seed=seed, more=more)

    monkeypatch.setattr(fixed_point, "network_commands", noting)
    plan = _plan()
    assert made == [VIRTUAL_DILATION, plan.config.dilation]
    assert with_dilation(plan_run(plan.spec, plan.decided)).config == plan.config
    assert made[2:] == [plan.config.dilation]


@pytest.mark.parametrize("payload", [1_000, 9_000])
def test_a_machine_that_is_always_late_gets_a_dilation_that_the_data_plane_holds(
    payload: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits of the data plane's tables reduce an automatic dilation instead of refusing the run."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    late = Wakeups(p50_ns=9e8, p99_ns=9e8, max_ns=1e9)
    store(calibration().model_copy(update={"wakeups": {"agent": late, "switch": late}}))
    slow_links = ("topology.host_rate_bps=1e9", "topology.fabric_rate_bps=1e9")
    assert _plan().config.dilation == MAX_AUTOMATIC_DILATION
    chosen = _plan("sfc", *slow_links, f"transport.payload_bytes={payload}").config
    assert chosen.dilation < MAX_AUTOMATIC_DILATION
    assert chosen.dilation_choice is not None
    assert chosen.dilation_choice.late_share > LATE_SHARE
    with pytest.raises(UsageError, match="for the data plane"):
        _plan("sfc", *slow_links, dilation=next_step(chosen.dilation + 1))


def test_the_page_gives_the_shortest_base_rtt_of_a_machine_without_a_calibration() -> None:
    shortest_ns = built_in(2).latest_wakeup_ns / (LATE_SHARE - 1 / WINDOWS_PER_RTT)
    page = (ROOT / "docs" / "sources.md").read_text(encoding="utf-8")
    assert f"a base RTT then takes {shortest_ns / 1e6:.0f} ms of wall time at least" in page
