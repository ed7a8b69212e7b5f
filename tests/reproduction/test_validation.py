# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Which runs are held against each other on both clocks."""

from __future__ import annotations

import pytest

from reproduction.catalogue import EXPERIMENTS
from reproduction.validation import Wish, pairs_of
from scenarios.catalogue import SCENARIOS
from testbed.errors import UsageError
from testbed.plan.plan import plan_run


def test_all_is_every_scenario_with_the_schemes_of_its_experiment() -> None:
    """Each scheme once, and none is left out on softswitch."""
    pairs, left_out = pairs_of(Wish("all"))
    assert left_out == []
    assert list(dict.fromkeys(pair.request.scenario for pair in pairs)) == list(SCENARIOS)
    for name, experiment in EXPERIMENTS.items():
        schemes = [pair.request.scheme for pair in pairs if pair.request.scenario == name]
        assert len(set(schemes)) == len(schemes)
        assert set(schemes) == {point.scheme for point in experiment.grids["ci"].points()}


def test_a_scheme_runs_at_the_last_place_with_the_settings_of_the_experiment() -> None:
    """Such as the largest load; of signaling the cap with which the paper's 13 MB come out, not twice that."""
    pairs, _ = pairs_of(Wish("incast-degree"))
    degrees = [int(point.place["incast degree"]) for point in EXPERIMENTS["incast-degree"].grids["ci"].points()]
    assert {pair.place for pair in pairs} == {f"incast degree {max(degrees)}"}
    [theory] = pairs_of(Wish("theory", ("sfc+none",)))[0]
    assert theory.place.startswith("case B_cache-hit")
    assert theory.live.duration_ms is not None
    signaling, _ = pairs_of(Wish("signaling"))
    assert {pair.place for pair in signaling} == {"in flight a sender (KB) 206"}


@pytest.mark.parametrize("scenario", ["incast", "fairness", "theory"])
def test_both_clocks_get_the_same_flows(scenario: str) -> None:
    """Whatever else differs between them: clock, dilation, and the live run's switch."""
    for pair in pairs_of(Wish(scenario, switch="soft", dilation=7000))[0]:
        virtual, live = plan_run(pair.virtual), plan_run(pair.live)
        assert virtual.flows
        assert virtual.flows == live.flows
        assert virtual.transport == live.transport
        assert virtual.switch_settings == live.switch_settings
        assert (virtual.config.clock, live.config.clock) == ("virtual", "real")
        assert (virtual.config.dilation, live.config.dilation) == (1000, 7000)


def test_what_is_typed_goes_before_what_the_experiment_has() -> None:
    """Seed and settings; a scheme that it does not have runs the scenario as it is."""
    wish = Wish("incast-degree", ("sfc+hpcc", "gbn"), seed=9, settings=("incast_degree=5",))
    known, other = pairs_of(wish)[0]
    assert known.request.settings == ("incast_degree=31", "incast_degree=5")
    assert plan_run(known.virtual).config.workload["incast_degree"] == 5
    assert (other.request.settings, other.place) == (("incast_degree=5",), "")
    assert {known.request.seed, other.request.seed} == {9}


def test_a_scheme_is_known_by_its_short_name() -> None:
    """`sfc` is `sfc+window`."""
    [short], [full] = (pairs_of(Wish("signaling", (name,)))[0] for name in ("sfc", "sfc+window"))
    assert short.request.settings == full.request.settings != ()


def test_all_leaves_out_what_the_switch_cannot_do_and_says_so() -> None:
    """The virtual run is of softswitch in any case."""
    pairs, left_out = pairs_of(Wish("all", switch="bmv2"))
    assert not [pair for pair in pairs if pair.request.scheme.startswith("pfc")]
    assert {line.split(",")[0].split(":")[0] for line in left_out} == {
        "testbed-incast pfc+dcqcn", "testbed-hol pfc+dcqcn", "ndp ndp",
    }  # fmt: skip
    assert all("a queue of BMv2 c" in line for line in left_out)
    assert {pair.virtual.switch for pair in pairs} == {"auto"}
    assert {pair.live.switch for pair in pairs} == {"bmv2"}


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        (Wish("testbed-hol", switch="bmv2"), "testbed-hol pfc.dcqcn: --switch bmv2 cannot do pfc"),
        (
            Wish("all", ("irn",), settings=("switch.pfc=true", "switch.buffer_bytes=9000000"), switch="bmv2"),
            "incast irn: --switch",
        ),
    ],
    ids=("one of two", "all of all"),
)
def test_what_was_named_is_not_left_out(wish: Wish, expected: str) -> None:
    """It is refused, before anything starts."""
    with pytest.raises(UsageError, match=expected):
        pairs_of(wish)
