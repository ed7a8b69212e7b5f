# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests with complete runs in virtual time in which a switch restarts, or a switch or host stalls."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.analysis.results.result import counted
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.plan import plan_run
from tests.testbed.incasts import assert_all_arrived, run_incast, trace

# A 24:1 incast into h50 in a buffer so small that PFC reaches back to the senders.
PFC = ("topology.hosts_per_tor=25", "degree=24", "switch.buffer_bytes=1000000")
SCHEMES = ("gbn", "irn", "sfc", "sfc-p", "sfc+hpcc")


_STALL = "stall:{},at=30us,for=40us"


@pytest.mark.parametrize(
    ("fault", "scheme", "settings", "drops"),
    [
        *(("restart:tor2,at=30us", scheme, (), {"restart"}) for scheme in SCHEMES),
        *((_STALL.format("tor2"), scheme, (), set()) for scheme in SCHEMES),
        (_STALL.format("spine1"), "sfc", (), set()),
        (_STALL.format("h1"), "sfc", (), set()),
        (_STALL.format("h16"), "irn", (), set()),
        ("stall:spine1,at=100us,for=50us", "pfc", PFC, set()),  # a stalled switch still obeys pause frames
        *((f"{_STALL.format(at)},ring=4", s, (), {"receive_ring"}) for at in ("tor2", "h16") for s in ("gbn", "sfc")),
    ],
)
def test_an_incast_survives_a_restart_or_a_stall(
    fault: str, scheme: str, settings: tuple[str, ...], drops: set[str], tmp_path: Path
) -> None:
    result = run_incast(tmp_path, scheme, *settings, faults=(fault,)).result
    assert_all_arrived(result)
    assert counted(result.drops).keys() == drops
    assert counted(result.flows.packets_resent) > 0 or fault.startswith("stall")


@pytest.mark.parametrize("scheme", ["irn", "sfc"])
def test_switches_route_around_a_restarting_spine_if_they_detect_it(tmp_path: Path, scheme: str) -> None:
    spec = "restart:spine1,at=30us,down=60us"
    aware, unaware = (run_incast(tmp_path, scheme, faults=(f,)).result for f in (f"{spec},detect=5us", spec))
    for result in (aware, unaware):
        assert_all_arrived(result)
    assert counted(aware.drops)["restart"] < counted(unaware.drops)["restart"]


def test_counts_from_before_a_restart_are_in_the_result(tmp_path: Path) -> None:
    run = run_incast(tmp_path, faults=("restart:tor2,at=60us,down=0us",))
    assert_all_arrived(run.result)
    signals = trace(run, "signals")
    sent = signals.filter(pl.col("switch") == "tor2")["sent_us"]
    assert sent.min() < 60 < sent.max()  # type: ignore[operator]
    assert counted(run.result.bts).sent >= signals.height > 0


def test_paused_peers_continue_after_a_restart(tmp_path: Path) -> None:
    """The restarted switch never resumes the peers that it had paused, so their pause quanta have to expire."""
    results = [run_incast(tmp_path, "pfc", *PFC, faults=f).result for f in ((), ("restart:tor2,at=100us",))]
    for result in results:
        assert_all_arrived(result)
        assert counted(result.pfc).sent > 0
    assert counted(results[1].drops).keys() == {"restart"}


def test_goodput_is_zero_during_a_stall_of_the_receivers_switch(tmp_path: Path) -> None:
    """The first microseconds of the stall are excluded because frames are still on the link."""
    fault, setting = "stall:tor2,at=30us,for=100us", "transport.goodput_interval_ns=5000"
    run = run_incast(tmp_path, "sfc", setting, faults=(fault,))
    goodput = trace(run, "goodput")
    within = goodput.filter((pl.col("from_us") >= 35) & (pl.col("until_us") <= 130))
    after = goodput.filter(pl.col("from_us") >= 130)
    assert within["delivered_bytes"].sum() == 0
    assert after["delivered_bytes"].sum() > 0
    assert_all_arrived(run.result)


@pytest.mark.parametrize(
    ("fault", "verb"), [("restart:tor1,at=1us", "restart"), ("stall:tor1,at=1us,for=1us", "stall")]
)
def test_restarts_and_stalls_of_switches_are_refused_on_bmv2(fault: str, verb: str) -> None:
    with pytest.raises(UsageError, match=f"--switch bmv2 cannot {verb} tor1: .*; use --switch soft"):
        plan_run(RunSpec("incast", switch="bmv2", faults=(fault,)))
    assert plan_run(RunSpec("incast", switch="bmv2", faults=("stall:h1,at=1us,for=1us",))).faults
