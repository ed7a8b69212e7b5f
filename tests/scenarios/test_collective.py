# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of collectives: which data reach which rank, sizes, iterations, barriers, placement and refused settings."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

from sfc_testbed.request.spec import BARRIER_TAG
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.scenarios.model.numbering import number_flows
from sfc_testbed.scenarios.model.scenario import ScenarioError, random_stream
from sfc_testbed.scenarios.traffic.collective import CollectiveJobs
from sfc_testbed.scenarios.traffic.collectives.table import COLLECTIVES
from sfc_testbed.scenarios.traffic.collectives.trees import two_trees
from sfc_testbed.topologies.shapes import shape

NETWORK = shape("clos", {"hosts_per_tor": 16}).build()
ALGORITHMS = [(name, algorithm) for name, row in COLLECTIVES.items() for algorithm in row.algorithms]
NEEDS_POWER_OF_TWO = {("all-gather", "recursive"), ("reduce-scatter", "recursive")}


def _flows(seed: int = 1, **parameters: Any) -> Sequence[Flow]:
    return number_flows(CollectiveJobs(**parameters).flows(NETWORK, random_stream(seed, "workload")))


def _cases(*counts: int) -> list[tuple[str, str, int]]:
    return [
        (collective, algorithm, ranks)
        for collective, algorithm in ALGORITHMS
        for ranks in counts
        if (collective, algorithm) not in NEEDS_POWER_OF_TWO or ranks & (ranks - 1) == 0
    ]


def _known(flows: Sequence[Flow]) -> dict[str, set[str]]:
    """Return the hosts whose data each host has at the end. A message has what its source got from `after`."""
    known = {host: {host} for flow in flows for host in (flow.src, flow.dst)}
    carried: list[set[str]] = []
    for flow in flows:
        before = (carried[number - 1] for number in flow.after if flows[number - 1].dst == flow.src)
        carried.append({flow.src}.union(*before))
        known[flow.dst] |= carried[-1]
    return known


@pytest.mark.parametrize(("collective", "algorithm", "ranks"), _cases(2, 3, 4, 5, 8, 13))
def test_the_data_of_the_right_ranks_arrive(collective: str, algorithm: str, ranks: int) -> None:
    """Broadcasts and pipelines begin at rank 0; in all other collectives every rank gets data of all ranks."""
    flows = _flows(collective=collective, algorithm=algorithm, ranks=ranks, placement="packed")
    hosts = {f"h{rank + 1}" for rank in range(ranks)}
    wanted = {"h1"} if collective in ("broadcast", "pipeline") else hosts
    assert all(wanted <= known for known in _known(flows).values())
    assert {flow.src for flow in flows} | {flow.dst for flow in flows} == hosts
    assert all(flow.src == f"h{flow.rank + 1}" and (flow.job, flow.iteration) == (1, 1) for flow in flows)


@pytest.mark.parametrize(
    ("collective", "algorithm", "sent_bytes"),
    [
        ("all-reduce", "ring", 14_000),
        ("all-reduce", "recursive", 14_000),
        ("all-gather", "ring", 7_000),
        ("all-gather", "recursive", 7_000),
        ("reduce-scatter", "ring", 7_000),
        ("reduce-scatter", "recursive", 7_000),
        ("all-to-all", "at-once", 7_000),
        ("all-to-all", "shifted", 7_000),
        ("moe", "at-once", 14_000),
    ],
)
def test_every_rank_sends_what_the_bus_bandwidth_counts(collective: str, algorithm: str, sent_bytes: int) -> None:
    """The bytes that a rank of eight sends are the size, 8,000 B, times the factor of the bus bandwidth."""
    flows = _flows(collective=collective, algorithm=algorithm, ranks=8, bytes=8_000)
    sent: Counter[str] = Counter()
    for flow in flows:
        sent[flow.src] += flow.size_bytes
    assert set(sent.values()) == {sent_bytes}
    assert COLLECTIVES[collective].bus_factor(8) * 8_000 == sent_bytes


@pytest.mark.parametrize("count", [2, 3, 4, 5, 7, 8, 12, 31])
def test_a_rank_has_children_in_one_of_the_two_trees(count: int) -> None:
    trees = two_trees(range(count))
    inner = [{rank for rank in range(count) if tree.children[rank]} for tree in trees]
    assert all(sorted(tree.downward) == list(range(count)) for tree in trees)
    assert max(len(tree.children[rank]) for tree in trees for rank in range(count)) <= 2
    assert len(inner[0] & inner[1]) <= (0 if count % 2 == 0 else 1)


def test_chunks_of_a_ring_follow_one_another() -> None:
    """Each of the 2 x 3 chunk positions of a rank forms a chain; the chunks of one step do not wait for each other."""
    flows = _flows(ranks=4, chunks=2, bytes=8_001)
    assert len(flows) == 6 * 4 * 2
    assert all(len(flow.after) == (flow.step > 1) for flow in flows)
    assert sum(flow.size_bytes for flow in flows if flow.step == 1) == 8_001


def test_the_combine_of_a_mixture_of_experts_returns_the_tokens() -> None:
    """Skew 1 of four experts: 12, 6, 4 and 3 parts of 25. An expert answers when it has the tokens of all ranks."""
    flows = _flows(collective="moe", ranks=4, bytes=25_000, skew=1)
    dispatched = {(flow.src, flow.dst): flow.size_bytes for flow in flows if flow.step == 1}
    returned = {(flow.dst, flow.src): flow.size_bytes for flow in flows if flow.step == 2}
    assert dispatched == returned
    assert {size for size in dispatched.values()} == {12_000, 6_000, 4_000, 3_000}
    assert {len(flow.after) for flow in flows if flow.step == 2} == {3}


@pytest.mark.parametrize(("ranks", "rounds"), [(2, 1), (5, 3), (8, 3), (9, 4)])
def test_a_dissemination_barrier_reaches_all_ranks(ranks: int, rounds: int) -> None:
    """Every message of the second iteration has the signals of all ranks before it."""
    flows = _flows(ranks=ranks, iterations=2)
    signals = [flow for flow in flows if flow.tag == BARRIER_TAG]
    assert len(signals) == ranks * rounds
    known: dict[int, set[str]] = defaultdict(set)
    for flow in flows:
        for number in flow.after:
            known[flow.flow_id] |= known[number]
        if flow.tag == BARRIER_TAG and flow.step == 1:
            known[flow.flow_id].add(flow.src)
        if flow.iteration == 2:
            assert len(known[flow.flow_id]) == ranks


def test_without_a_barrier_a_rank_waits_for_its_own_part() -> None:
    """The last message in each direction of the ring ends a rank's part."""
    flows = _flows(ranks=4, iterations=2, barrier="none", compute_us=3)
    begin = next(flow for flow in flows if (flow.iteration, flow.step, flow.rank) == (2, 1, 1))
    before = [flows[number - 1] for number in begin.after]
    assert {(flow.src == begin.src, flow.step) for flow in before} == {(True, 6), (False, 6)}
    assert begin.delays_ns == (3_000, 3_000)


def test_ranks_of_jobs_are_placed_over_the_racks() -> None:
    """Packed jobs of eight fill half a rack, striped jobs alternate, and random ones depend on the seed."""
    racks = {}
    for placement in ("packed", "striped", "random"):
        by_job: dict[int, set[str]] = defaultdict(set)
        for flow in _flows(jobs=3, placement=placement):
            by_job[flow.job].add(flow.src)
        assert sum(map(len, by_job.values())) == len(set().union(*by_job.values())) == 24
        racks[placement] = [Counter(NETWORK.host[name].switch for name in hosts) for hosts in by_job.values()]
    assert [len(counts) for counts in racks["packed"]] == [1, 1, 1]
    assert all(set(counts.values()) == {4} for counts in racks["striped"])
    assert _flows(1, placement="random") == _flows(1, placement="random") != _flows(2, placement="random")


def test_an_incast_beside_the_jobs_does_not_change_them() -> None:
    """The incast's receiver is the last rank."""
    alone, beside = _flows(ranks=4), _flows(ranks=4, degree=3)
    jobs = [flow for flow in beside if flow.job]
    assert [(flow.src, flow.dst, flow.step) for flow in jobs] == [(flow.src, flow.dst, flow.step) for flow in alone]
    assert {flow.dst for flow in beside if not flow.job} == {next(flow.src for flow in alone if flow.rank == 3)}


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"ranks": 33}, "ranks 33 is above the 32 hosts of this network; use --set topology.hosts_per_tor=17"),
        ({"ranks": 12, "jobs": 3}, "jobs 3 of ranks 12: 36 is above the 32 hosts"),
        ({"ranks": 8, "bytes": 7}, "bytes 7 is too small for 8 parts"),
        ({"collective": "all-to-all", "algorithm": "ring"}, "all-to-all has no such algorithm; choose from at-once"),
        ({"collective": "all-gather", "algorithm": "recursive", "ranks": 6}, "needs a power of two, such as 4"),
        ({"algorithm": "recursive", "chunks": 2}, "chunks 2: algorithm recursive sends a step as one message"),
        ({"skew": 1.0}, "skew 1: only collective=moe has a skew"),
        ({"collective": "moe", "bytes": 20, "skew": 4.0}, "bytes 20 is too small: with skew 4 and 8 ranks"),
        ({"ranks": 32, "chunks": 10_000, "bytes": 10_000_000}, "a run has at most 10,000,000 messages"),
        ({"collective": "all-to-all", "ranks": 32, "iterations": 200, "barrier": "none"}, "barrier=dissemination"),
        ({"receiver": "h99", "degree": 1}, "no host 'h99'"),
    ],
)
def test_a_workload_that_does_not_fit_is_refused(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        _flows(**parameters)


@pytest.mark.parametrize("parameters", [{"ranks": 1}, {"skew": 5.0}, {"barrier": "some"}, {"bytes": 0}])
def test_a_setting_out_of_its_range_is_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(parameters))):
        CollectiveJobs(**parameters)
