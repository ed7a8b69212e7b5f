# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Who runs what: by what there is to do."""

from __future__ import annotations

from collections import Counter

from testbed.plan.plan import RunPlan, RunRequest, plan_run
from testbed.virtual.shares import Share, shares

_NETWORK = ("topology.tors=4", "topology.hosts_per_tor=4", "topology.spines=4")


def _plan(scenario: str, *settings: str) -> RunPlan:
    return plan_run(RunRequest(scenario, "sfc", clock="virtual", settings=(*_NETWORK, *settings)))


def _bytes_of_nics(plan: RunPlan, share: Share) -> int:
    """What the NICs of a share send and receive."""
    handled: Counter[str] = Counter()
    for flow in plan.flows:
        handled[flow.src] += flow.size_bytes
        handled[flow.dst] += flow.size_bytes
    return sum(handled[name] for name in share.hosts)


def test_the_rack_that_all_send_to_has_least_else_to_do() -> None:
    """It handles half of all bytes, as much as all senders: these have the spines."""
    plan = _plan("incast", "degree=12", "placement=remote")
    [receiver] = {flow.dst for flow in plan.flows}
    own = shares(plan.topology, plan.columns, 2)
    [busy] = [share for share in own if receiver in share.hosts]
    [other] = [share for share in own if share is not busy]
    assert len(busy.hosts) == 4
    assert _bytes_of_nics(plan, busy) == _bytes_of_nics(plan, other)
    spines = [
        [name for name in share.switches if name not in {host.switch for host in plan.topology.hosts}] for share in own
    ]
    assert [len(names) for names in spines] == [2, 2]


def test_racks_without_traffic_are_shared_out_too() -> None:
    """As many hosts to each."""
    plan = _plan("incast", "degree=1", "message_bytes=1")
    for workers in (2, 4):
        own = shares(plan.topology, plan.columns, workers)
        assert [len(share.hosts) for share in own] == [16 // workers] * workers
