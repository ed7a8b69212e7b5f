# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks before a start: free disk space, and the memory and link rates of BMv2 switches."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from sfc_testbed.cli.app import main
from sfc_testbed.reproduction.validation import Wish, pairs_of
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.limits import (
    check_limits,
    check_output,
    most_waiting_bytes,
    open_files,
    switch_memory_bytes,
)
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run

GB = 1_000_000_000


def _plan(*settings: str, scheme: str = "gbn+none", switch: str = "bmv2", dilation: int = 1000, **more: Any) -> RunPlan:
    defaults = parse_settings(("degree=5", "message_bytes=1000000", "window_us=0"))
    chosen = {**defaults, **parse_settings(settings)}
    return plan_run(RunSpec("incast", scheme, switch, settings=chosen, dilation=dilation, **more))


@pytest.fixture(params=[4])
def free_gigabytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=request.param * GB))


def test_the_backlog_is_the_excess_of_arrivals() -> None:
    """Five senders of one message each fill the queue of one link; a single sender makes no queue."""
    assert most_waiting_bytes(_plan()) == pytest.approx(4_000_000, rel=1e-3)
    assert most_waiting_bytes(_plan("degree=1")) == 0


def test_the_backlog_is_bounded_by_windows_buffers_and_the_duration() -> None:
    """The bounds are one BDP per flow, the buffers of all switches, and the arrivals until the end of the run."""
    assert most_waiting_bytes(_plan(scheme="gbn")) == pytest.approx(5 * 125_000, rel=0.01)
    assert most_waiting_bytes(_plan(scheme="irn")) == pytest.approx(5 * 125_000, rel=0.01)
    assert most_waiting_bytes(_plan("switch.buffer_bytes=300000")) == 4 * 300_000
    assert most_waiting_bytes(_plan(duration_ms=0.04)) == pytest.approx(2_000_000, rel=1e-3)


def test_every_switch_port_and_packet_counts() -> None:
    """BMv2 holds parsed packets."""
    idle = switch_memory_bytes(_plan("degree=1"))
    wide = switch_memory_bytes(_plan("degree=1", "topology.tors=8"))
    busy = switch_memory_bytes(_plan())
    assert wide > 2 * idle > 0
    assert busy - idle == pytest.approx(4_000 * 170_000, rel=1e-3)
    assert switch_memory_bytes(_plan("transport.payload_bytes=4000")) - idle == pytest.approx(1_000 * 170_000, rel=0.01)


@pytest.mark.usefixtures("free_gigabytes")
def test_more_switches_than_there_is_memory_for_are_refused(tmp_path: Path) -> None:
    """The error is one line with alternatives, and it names the plan."""
    large = _plan("topology.tors=64", "topology.hosts_per_tor=2")
    with pytest.raises(UsageError) as refused:
        check_limits([_plan(), large], tmp_path)
    message = str(refused.value)
    assert message.startswith("incast gbn+none: 66 switches of --switch bmv2 may take ")
    assert message.endswith(
        " GB of memory, 4.0 GB are free; fewer of them, a smaller switch.buffer_bytes, or --switch soft"
    )
    assert "\n" not in message
    check_limits([_plan()], tmp_path)


@pytest.mark.usefixtures("free_gigabytes")
def test_an_interactive_network_that_needs_too_much_memory_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The error comes before anything is created."""
    assert main(["cli", "--switch", "bmv2", "--set", "topology.tors=64", "--set", "topology.hosts_per_tor=2"]) == 2
    assert capsys.readouterr().err.startswith("runner.py: 66 switches of --switch bmv2 may take ")


@pytest.mark.parametrize("free_gigabytes", [2], indirect=True)
def test_all_leaves_out_scenarios_that_need_too_much_memory(free_gigabytes: None) -> None:
    """They are listed like scenarios that the switch cannot run for other reasons."""
    pairs, left_out = pairs_of(Wish("all", switch="bmv2"))
    assert "incast sfc" in [pair.label for pair in pairs]
    [line] = [line for line in left_out if line.startswith("resources ")]
    assert line.startswith("resources sfc+hpcc, workload hadoop: 6 switches of --switch bmv2 may take ")
    assert all(switch_memory_bytes(plan_run(pair.live)) <= 2 * GB for pair in pairs)
    with pytest.raises(UsageError, match=r"resources sfc\+hpcc, workload hadoop: 6 switches"):
        pairs_of(Wish("resources", switch="bmv2"))


def test_a_clock_that_changes_the_rates_of_links_is_refused(tmp_path: Path) -> None:
    """A rate of 1.54 packets/s becomes 2, and 15.4 becomes 15."""
    slow, slower = (_plan("transport.payload_bytes=4000", dilation=dilation) for dilation in (200_000, 2_000_000))
    with pytest.raises(UsageError) as refused:
        check_limits([slow, slower], tmp_path)
    assert str(refused.value) == (
        "incast gbn+none: --switch bmv2 at dilation 2000000: whole packets per second make the rate of some link "
        "30 % wrong; use a smaller --dilation or --switch soft"
    )
    check_limits([slow], tmp_path)


def test_the_required_open_files_depend_on_the_plan() -> None:
    small, large = (_plan("topology.hosts_per_tor=12", f"topology.tors={tors}", switch="soft") for tors in (2, 4))
    assert open_files(plan_run(RunSpec("incast", clock="virtual"))) == 40
    assert open_files(large) - open_files(small) >= 2 * (24 + 2) + 3 * 2


def test_too_little_free_space_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_output(tmp_path)
    check_output(tmp_path / "not" / "there")
    monkeypatch.setattr("sfc_testbed.testbed.execution.limits._LEAST_FREE_BYTES", 10**21)
    with pytest.raises(
        UsageError, match=r"--out .*: [0-9.]+ MB free on its file system, at least [0-9]+ MB are needed"
    ):
        check_limits([_plan(switch="soft")], tmp_path)
    assert not list(tmp_path.iterdir())
