# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the paper's testbed workload: all-to-all messages on four queue pairs per pair of hosts (section 5.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.scenarios.model.numbering import number_flows
from sfc_testbed.scenarios.model.scenario import random_stream
from sfc_testbed.scenarios.paper.testbed import TESTBED_HOL, HeadOfLine
from sfc_testbed.scenarios.traffic.incast import TAG as INCAST
from sfc_testbed.topologies.shapes import shape

NETWORK = shape(TESTBED_HOL.scales["ci"].topology, {}).build()


def _flows(**fields: object) -> Sequence[Flow]:
    return number_flows(HeadOfLine(**fields).flows(NETWORK, random_stream(1, "workload")))


def test_messages_between_two_hosts_take_turns_on_four_queue_pairs() -> None:
    """Messages take turns in order of start. Every flow of the incast has its own queue pair."""
    all_to_all = defaultdict(list)
    incast = []
    for flow in _flows(arrivals_us=6_000.0):
        if flow.tag == INCAST:
            incast.append((flow.src, flow.source_qpn))
        else:
            all_to_all[flow.src, flow.dst].append((flow.queue_pair, flow.source_qpn))
    assert len(all_to_all) == 16 * 15
    for messages in all_to_all.values():
        assert [pair for pair, _ in messages] == [turn % 4 + 1 for turn in range(len(messages))]
        assert len(set(messages)) == min(4, len(messages))
    assert len(set(incast)) == len(incast) == 24 * 40
    assert not set(incast) & {(src, qpn) for (src, _), messages in all_to_all.items() for _, qpn in messages}


def test_messages_do_not_depend_on_the_number_of_queue_pairs() -> None:
    shared, separate = _flows(), _flows(queue_pairs=0)
    assert [(flow.src, flow.dst, flow.size_bytes, flow.start_ns, flow.tag) for flow in shared] == [
        (flow.src, flow.dst, flow.size_bytes, flow.start_ns, flow.tag) for flow in separate
    ]
    assert {flow.queue_pair for flow in separate} == {0}
    assert len({(flow.src, flow.source_qpn) for flow in separate}) == len(separate)
