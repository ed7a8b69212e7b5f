# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How a network is divided among workers according to their load."""

from __future__ import annotations

from collections import Counter

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.virtual.shares import Share, shares

_NETWORK = ("topology.tors=4", "topology.hosts_per_tor=4", "topology.spines=4")


def _plan(scenario: str, *settings: str) -> RunPlan:
    return plan_run(RunSpec(scenario, "sfc", clock="virtual", settings=parse_settings((*_NETWORK, *settings))))


def _bytes_of_nics(plan: RunPlan, share: Share) -> int:
    handled: Counter[str] = Counter()
    for flow in plan.flows:
        handled[flow.src] += flow.size_bytes
        handled[flow.dst] += flow.size_bytes
    return sum(handled[name] for name in share.hosts)


def test_the_worker_of_the_incast_receiver_gets_the_least_other_work() -> None:
    """The receiver's rack handles half of all bytes; the other worker has all senders. Each has two spines."""
    plan = _plan("incast", "degree=12", "placement=remote")
    [receiver] = {flow.dst for flow in plan.flows}
    worker_shares = shares(plan.topology, plan.columns, 2)
    [busy] = [share for share in worker_shares if receiver in share.hosts]
    [other] = [share for share in worker_shares if share is not busy]
    assert len(busy.hosts) == 4
    assert _bytes_of_nics(plan, busy) == _bytes_of_nics(plan, other)
    spines = [
        [name for name in share.switches if name not in {host.switch for host in plan.topology.hosts}]
        for share in worker_shares
    ]
    assert [len(names) for names in spines] == [2, 2]


def test_racks_without_traffic_are_divided_evenly() -> None:
    plan = _plan("incast", "degree=1", "message_bytes=1")
    for workers in (2, 4):
        worker_shares = shares(plan.topology, plan.columns, workers)
        assert [len(share.hosts) for share in worker_shares] == [16 // workers] * workers
