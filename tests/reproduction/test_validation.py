# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The pairs of runs that `validate` compares on both clocks."""

from __future__ import annotations

import pytest

from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.validation import Wish, pairs_of
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.plan import plan_run


def test_all_is_every_scenario_with_each_scheme_of_its_experiment_once() -> None:
    pairs, left_out = pairs_of(Wish("all"))
    assert left_out == []
    names = [name for name in SCENARIOS if name not in ("rivals", "ai-fabric")]  # workloads of other experiments
    assert list(dict.fromkeys(pair.request.scenario for pair in pairs)) == names
    for name, experiment in EXPERIMENTS.items():
        if name not in names:
            continue
        schemes = [pair.request.scheme for pair in pairs if pair.request.scenario == name]
        assert len(set(schemes)) == len(schemes)
        assert set(schemes) == {point.scheme for point in experiment.grids["ci"].points()}


def test_a_scenario_that_is_not_in_all_can_be_named() -> None:
    pairs, _ = pairs_of(Wish("rivals", schemes=("sfc+swift",)))
    assert [pair.label for pair in pairs] == ["rivals sfc+swift, workload rpc"]


def test_a_scheme_runs_at_the_last_point_with_the_settings_of_the_experiment() -> None:
    """The last point is the largest degree. For `signaling` it is the paper's distance of the ToRs."""
    pairs, _ = pairs_of(Wish("incast-degree"))
    degrees = [int(point.place["incast degree"]) for point in EXPERIMENTS["incast-degree"].grids["ci"].points()]
    assert {pair.place for pair in pairs} == {f"incast degree {max(degrees)}"}
    [theory] = pairs_of(Wish("theory", ("sfc+none",)))[0]
    assert theory.place.startswith("case B_cache-hit")
    assert theory.live.duration_ms is not None
    signaling, _ = pairs_of(Wish("signaling"))
    assert {pair.place for pair in signaling} == {"between ToRs (us) 3"}


@pytest.mark.parametrize("scenario", ["incast", "fairness", "theory"])
def test_both_clocks_get_the_same_flows(scenario: str) -> None:
    for pair in pairs_of(Wish(scenario, switch="soft", dilation=7000))[0]:
        virtual, live = plan_run(pair.virtual), plan_run(pair.live)
        assert virtual.flows
        assert virtual.flows == live.flows
        assert virtual.transport == live.transport
        assert virtual.switch_settings == live.switch_settings
        assert (virtual.config.clock, live.config.clock) == ("virtual", "real")
        assert (virtual.config.dilation, live.config.dilation) == (1000, 7000)


def test_options_override_the_seed_and_the_settings_of_the_experiment() -> None:
    wish = Wish("incast-degree", ("sfc+hpcc", "gbn"), seed=9, settings={"incast_degree": 5})
    known, unknown = pairs_of(wish)[0]
    assert known.request.settings == {"incast_degree": 5}
    assert plan_run(known.virtual).config.workload["incast_degree"] == 5
    assert (unknown.request.settings, unknown.place) == ({"incast_degree": 5}, "")
    assert {known.request.seed, unknown.request.seed} == {9}


def test_the_short_name_of_a_scheme_gets_the_settings_of_its_full_name() -> None:
    [short], [full] = (pairs_of(Wish("signaling", (name,)))[0] for name in ("sfc", "sfc+window"))
    assert short.request.settings == full.request.settings != {}


def test_all_leaves_out_and_names_pairs_that_the_switch_does_not_support() -> None:
    pairs, left_out = pairs_of(Wish("all", switch="bmv2"))
    assert not [pair for pair in pairs if pair.request.scheme.startswith("pfc")]
    assert {line.split(",")[0].split(":")[0] for line in left_out} == {
        "testbed-incast pfc+dcqcn", "testbed-hol pfc+dcqcn", "hadoop-50 pfc+hpcc", "ndp ndp",
    }  # fmt: skip
    assert all("a queue of BMv2 c" in line for line in left_out)
    assert {pair.virtual.switch for pair in pairs} == {"auto"}
    assert {pair.live.switch for pair in pairs} == {"bmv2"}


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        (Wish("testbed-hol", switch="bmv2"), "testbed-hol pfc.dcqcn: --switch bmv2 cannot do pfc"),
        (
            Wish("all", ("irn",), settings={"switch.pfc": True, "switch.buffer_bytes": 9_000_000}, switch="bmv2"),
            "incast irn: --switch",
        ),
    ],
    ids=("one of two", "all of all"),
)
def test_a_named_scenario_or_scheme_that_the_switch_does_not_support_is_refused(wish: Wish, expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        pairs_of(wish)
