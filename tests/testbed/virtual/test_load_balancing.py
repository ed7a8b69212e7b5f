# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of every load balancing in whole runs: all payload arrives, also round a failed link."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.request.extensions import use
from sfc_testbed.request.load_balancing import LOAD_BALANCINGS
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.errors import UsageError
from tests.extended import nothing_remains
from tests.testbed.incasts import assert_all_arrived, plan_incast, plan_virtual, run_incast, run_plan, trace

SMALL = ("topology.spines=4", "degree=6", "message_bytes=60000")
IN_SWITCHES = [name for name, row in LOAD_BALANCINGS.items() if row.switch.get("load_balancing") == name]
LAME = '''\
import sfc_testbed as sfc


@sfc.topology("lame")
class Lame(sfc.Shape):
    """Two racks and two spines, one of which has a slow link to the second rack."""

    def build(self):
        builder = self.new_builder()
        tors = [builder.add_switch(f"tor{number}", has_hosts=True) for number in (1, 2)]
        spines = [builder.add_switch(f"spine{number}", has_hosts=False) for number in (1, 2)]
        self.add_hosts(builder, {tor: 4 for tor in tors})
        for tor in tors:
            for spine in spines:
                is_slow = (tor, spine) == ("tor2", "spine2")
                builder.add_link(tor, spine, 20_000_000_000 if is_slow else 200_000_000_000, 1_000)
        return builder.build()


@sfc.scenario("pairs", "each host of the first rack sends to one of the second, message after message")
class Pairs(sfc.Workload):
    def flows(self, topology, random):
        return [
            sfc.FlowRequest(f"h{sender}", f"h{sender + 4}", 25_000, 4_000 * number, "pair")
            for number in range(40)
            for sender in (1, 2, 3, 4)
        ]


sfc.load_balancing("mine", "decided by a program", program={"bits": 1})
sfc.load_balancing("fickle", "a flowlet for each packet", switch={"load_balancing": "flowlet", "flowlet_gap_ns": 0})
'''


@pytest.fixture
def lame(tmp_path: Path) -> Iterator[None]:
    (tmp_path / "lame.py").write_text(LAME)
    with nothing_remains():
        use(tmp_path / "lame.py")
        yield


@pytest.mark.parametrize("scheme", ["irn", "sfc"])
@pytest.mark.parametrize("name", [*LOAD_BALANCINGS])
def test_all_payload_arrives(name: str, scheme: str, tmp_path: Path) -> None:
    run = run_incast(tmp_path, scheme, *SMALL, load_balancing=name)
    assert_all_arrived(run.result)
    assert run.result.variant == f"{scheme}, {name}"


@pytest.mark.parametrize("name", IN_SWITCHES)
def test_a_failed_uplink_loses_nothing_once_it_is_detected(name: str, tmp_path: Path) -> None:
    """The ports that are compared follow the routes: no packet is sent to the dead link after its detection."""
    fault = "link:tor1-spine1,down=0us,detect=0us"
    run = run_incast(tmp_path, "irn", *SMALL, load_balancing=name, faults=(fault,))
    assert_all_arrived(run.result)
    drops = run.result.drops or {}
    assert drops.get("no_route", 0) == 0


def _peak_of_slow_spine(folder: Path, name: str) -> tuple[int, float]:
    """Return the highest buffer of the spine with the slow link, and the mean slowdown."""
    settings = ("switch.conga_tau_rtt=1", "switch.flowlet_gap_rtt=0.25")
    run = run_plan(plan_virtual("pairs", "irn", *settings, topology="lame", load_balancing=name), folder)
    assert_all_arrived(run.result)
    slowdown = trace(run, "flows").select(pl.col("slowdown").mean()).item()
    return run.result.buffer_bytes["spine2"].max, float(slowdown)


@pytest.mark.usefixtures("lame")
def test_conga_moves_traffic_off_a_slow_path_that_the_leaf_does_not_see(tmp_path: Path) -> None:
    """The slow link is behind the spine: local queues do not show it, but the feedback of the other leaf does."""
    (ecmp_peak, ecmp_slowdown), (conga_peak, conga_slowdown) = (
        _peak_of_slow_spine(tmp_path, name) for name in ("ecmp", "conga")
    )
    assert conga_peak < 0.5 * ecmp_peak
    assert conga_slowdown < 0.5 * ecmp_slowdown


@pytest.mark.usefixtures("lame")
def test_a_row_of_an_extension_is_a_load_balancing(tmp_path: Path) -> None:
    plan = plan_incast("irn", *SMALL, load_balancing="fickle")
    assert (plan.switch_settings.load_balancing, plan.switch_settings.flowlet_gap_ns) == ("flowlet", 0)
    assert plan.switch_settings.reorders
    assert "--load-balancing fickle" in plan.config.command
    assert plan.config.overridden == ()


@pytest.mark.usefixtures("lame")
def test_a_row_with_settings_of_a_program_needs_the_program() -> None:
    with pytest.raises(UsageError, match=r"--load-balancing mine: sets program\.bits .* select the program with --p4"):
        plan_incast("irn", load_balancing="mine")


def test_typed_settings_win_over_the_row_and_the_row_over_the_scheme() -> None:
    chosen = [
        plan_incast("ndp", *words, load_balancing=name).switch_settings.load_balancing
        for words, name in (((), None), ((), "flowlet"), (("switch.load_balancing=drill",), "flowlet"))
    ]
    assert chosen == ["spray", "flowlet", "drill"]


@pytest.mark.parametrize(
    ("name", "topology", "settings", "words"),
    [
        ("conga", "dumbbell", (), "s1 and s2 are ToRs"),
        ("conga", "three-tier", (), "agg1 and core1 have no servers"),
        ("conga", "clos", ("topology.spines=17",), "at most 16 equal-cost ports, but tor1 has 17"),
        ("drill", "clos", ("topology.spines=33",), "at most 32 equal-cost ports, but tor1 has 33"),
        ("conga", "clos", ("topology.spines=2", "topology.uplinks=2"), "spine1 has several links to a ToR"),
        ("conga", "clos", ("switch.trim_queue_packets=8", "transport.ack_priority=control"), "exclude each other"),
    ],
)
def test_a_network_that_a_load_balancing_cannot_use_is_refused(
    name: str, topology: str, settings: tuple[str, ...], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        plan_incast("irn", "degree=2", *settings, topology=topology, load_balancing=name)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"load_balancing": "ecmp"}, (False, False)),
        ({"load_balancing": "spray"}, (True, True)),
        ({"load_balancing": "adaptive"}, (True, True)),
        ({"load_balancing": "adaptive", "adaptive_unit": "flowlet"}, (True, False)),
        ({"load_balancing": "conga"}, (True, False)),
        ({"load_balancing": "flowlet", "flowlet_gap_ns": 0}, (True, True)),
    ],
)
def test_a_load_balancing_tells_whether_packets_overtake_each_other(
    settings: dict[str, str], expected: tuple[bool, bool]
) -> None:
    chosen = SwitchSettings.model_validate(settings)
    assert (chosen.changes_paths, chosen.reorders) == expected
