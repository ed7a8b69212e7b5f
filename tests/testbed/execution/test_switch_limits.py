# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What BMv2's switches take of the machine, and what they make of a slow clock: reckoned from the plan, and refused."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from command.app import main
from reproduction.validation import Wish, pairs_of
from testbed.errors import UsageError
from testbed.execution.room import check_room
from testbed.execution.switch_limits import most_waiting_bytes, switch_memory_bytes
from testbed.plan.plan import RunPlan, RunRequest, plan_run

GB = 1_000_000_000


def _plan(
    *settings: str, scheme: str = "gbn+none", switch: str = "bmv2", dilation: int = 1000, **more: object
) -> RunPlan:
    words = ("degree=5", "message_bytes=1000000", "window_us=0", *settings)
    return plan_run(RunRequest("incast", scheme, switch, settings=words, dilation=dilation, **more))  # type: ignore[arg-type]


@pytest.fixture
def four_free_gigabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of memory, as the machine says."""

    class Free:
        available = 4 * GB

    monkeypatch.setattr(psutil, "virtual_memory", Free)


def test_what_waits_is_what_comes_faster_than_it_leaves() -> None:
    """Five senders for the time of one message, one link that drains; a sixth host alone makes no queue."""
    assert most_waiting_bytes(_plan()) == pytest.approx(4_000_000, rel=1e-3)
    assert most_waiting_bytes(_plan("degree=1")) == 0


def test_a_window_the_buffer_and_the_end_of_the_run_bound_it() -> None:
    """A BDP of each flow; all switches' buffers; what has come until then."""
    assert most_waiting_bytes(_plan(scheme="gbn")) == pytest.approx(5 * 125_000, rel=0.01)
    assert most_waiting_bytes(_plan(scheme="irn")) == pytest.approx(5 * 125_000, rel=0.01)
    assert most_waiting_bytes(_plan("switch.buffer_bytes=300000")) == 4 * 300_000
    assert most_waiting_bytes(_plan(duration_ms=0.04)) == pytest.approx(2_000_000, rel=1e-3)


def test_every_switch_port_and_packet_counts() -> None:
    """Of BMv2; softswitch holds bytes."""
    idle = switch_memory_bytes(_plan("degree=1"))
    wide = switch_memory_bytes(_plan("degree=1", "topology.tors=8"))
    busy = switch_memory_bytes(_plan())
    assert wide > 2 * idle > 0
    assert busy - idle == pytest.approx(4_000 * 170_000, rel=1e-3)
    assert switch_memory_bytes(_plan("transport.payload_bytes=4000")) - idle == pytest.approx(1_000 * 170_000, rel=0.01)
    assert switch_memory_bytes(_plan(switch="soft")) == 0


@pytest.mark.usefixtures("four_free_gigabytes")
@pytest.mark.root
def test_more_switches_than_there_is_memory_for_are_refused(tmp_path: Path) -> None:
    """In one line that says what would do; one plan of several is named."""
    large = _plan("topology.tors=64", "topology.hosts_per_tor=2")
    with pytest.raises(UsageError) as refused:
        check_room([_plan(), large], tmp_path)
    said = str(refused.value)
    assert said.startswith("incast gbn+none: 66 switches of --switch bmv2 may take ")
    assert said.endswith(
        " GB of memory, 4.0 GB are free; fewer of them, a smaller switch.buffer_bytes, or --switch soft"
    )
    assert "\n" not in said
    check_room([_plan()], tmp_path)


@pytest.mark.usefixtures("four_free_gigabytes")
def test_so_is_a_network_to_play_with(capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything of it is made."""
    assert main(["cli", "--switch", "bmv2", "--set", "topology.tors=64", "--set", "topology.hosts_per_tor=2"]) == 2
    assert capsys.readouterr().err.startswith("runner.py: 66 switches of --switch bmv2 may take ")


def test_all_leaves_out_what_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, as what the switch cannot do for other reasons."""

    class Free:
        available = 2 * GB

    monkeypatch.setattr(psutil, "virtual_memory", Free)
    pairs, left_out = pairs_of(Wish("all", switch="bmv2"))
    assert "incast sfc" in [pair.label for pair in pairs]
    [line] = [line for line in left_out if line.startswith("resources ")]
    assert line.startswith("resources sfc+hpcc, workload hadoop: 6 switches of --switch bmv2 may take ")
    assert all(switch_memory_bytes(plan_run(pair.live)) <= 2 * GB for pair in pairs)
    with pytest.raises(UsageError, match=r"resources sfc\+hpcc, workload hadoop: 6 switches"):
        pairs_of(Wish("resources", switch="bmv2"))


@pytest.mark.root
def test_a_clock_so_slow_that_links_have_other_rates_is_refused(tmp_path: Path) -> None:
    """1.54 packets/s become 2; 15.4 become 15."""
    slow, slower = (_plan("transport.payload_bytes=4000", dilation=each) for each in (200_000, 2_000_000))
    with pytest.raises(UsageError) as refused:
        check_room([slow, slower], tmp_path)
    assert str(refused.value) == (
        "incast gbn+none: --switch bmv2 at dilation 2000000: whole packets per second make the rate of some link "
        "30 % wrong; use a smaller --dilation or --switch soft"
    )
    check_room([slow], tmp_path)
