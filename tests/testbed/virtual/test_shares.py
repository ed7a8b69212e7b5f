# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How a network is divided among workers according to their load."""

from __future__ import annotations

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.virtual.shares import shares

_NETWORK = ("topology.tors=4", "topology.hosts_per_tor=4", "topology.spines=4")


def _plan(scenario: str, *settings: str) -> RunPlan:
    return plan_run(RunSpec(scenario, "sfc", clock="virtual", settings=parse_settings((*_NETWORK, *settings))))


def test_the_worker_of_the_incast_receiver_gets_the_least_other_work() -> None:
    """The other worker has all senders, which cost more, so the receiver's worker has all spines."""
    plan = _plan("incast", "degree=12", "placement=remote")
    [receiver] = {flow.dst for flow in plan.flows}
    worker_shares = shares(plan.topology, plan.columns, 2)
    [busy] = [share for share in worker_shares if receiver in share.hosts]
    [other] = [share for share in worker_shares if share is not busy]
    assert len(busy.hosts) == 4
    assert {flow.src for flow in plan.flows} == set(other.hosts)
    tors = {host.switch for host in plan.topology.hosts}
    assert [len(set(share.switches) - tors) for share in (busy, other)] == [4, 0]


def test_racks_without_traffic_are_divided_evenly() -> None:
    plan = _plan("incast", "degree=1", "message_bytes=1")
    for workers in (2, 4):
        worker_shares = shares(plan.topology, plan.columns, workers)
        assert [len(share.hosts) for share in worker_shares] == [16 // workers] * workers
