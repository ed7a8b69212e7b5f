# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of flow lists as columns: the same flows as objects, and numbers of queue pairs."""

from __future__ import annotations

import pickle

import numpy as np

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.flow_table import FlowTable, flow_table, joined
from sfc_testbed.scenarios.model.numbering import number_flows

REQUESTS = [
    FlowRequest("h3", "h1", 7_000_000_000, 5, "a", queue_pair=2),
    FlowRequest("h1", "h2", 1, 0, "b"),
    FlowRequest("h3", "h1", 9, 5, "a", queue_pair=2),
    FlowRequest("h3", "h1", 9, 6, "a", queue_pair=1),
]


def _fields(flow: FlowRequest) -> tuple[object, ...]:
    return flow.src, flow.dst, flow.size_bytes, flow.start_ns, flow.tag, flow.queue_pair, flow.after, flow.delay_ns


def test_a_table_has_the_requests_of_a_list() -> None:
    assert list(map(_fields, flow_table(REQUESTS))) == list(map(_fields, REQUESTS))
    assert len(flow_table([])) == 0


def test_a_table_keeps_what_messages_wait_for() -> None:
    waiting = FlowRequest("h2", "h1", 9, 0, "a", after=(1, 2), delay_ns=4)
    table = flow_table([*REQUESTS, waiting])
    assert _fields(table[4]) == _fields(table[-1]) == _fields(waiting)
    assert _fields(table.part(3, 5)[1]) == _fields(waiting)


def test_tables_are_joined_and_renamed() -> None:
    table = joined([flow_table(REQUESTS[:1]), flow_table(REQUESTS[1:])])
    renamed = table.with_names(("h1", "h2", "h3"))
    assert list(map(_fields, table)) == list(map(_fields, renamed)) == list(map(_fields, REQUESTS))
    assert renamed.src.tolist() == [2, 0, 2, 2]


def test_queue_pairs_are_numbered_per_host_and_direction_in_order_of_start() -> None:
    flows = number_flows(REQUESTS)
    assert [(flow.flow_id, flow.src, flow.source_qpn, flow.destination_qpn) for flow in flows] == [
        (1, "h1", 1, 1),
        (2, "h3", 1, 1),
        (3, "h3", 1, 1),
        (4, "h3", 2, 2),
    ]


def test_a_table_takes_forty_bytes_a_flow() -> None:
    many = FlowTable(**{**vars(flow_table([])), **_columns(number_flows(REQUESTS), 1_000)})
    assert len(pickle.dumps(many)) < 41 * len(many)


def _columns(table: FlowTable, times: int) -> dict[str, object]:
    return {name: np.tile(value, times) for name, value in vars(table).items() if isinstance(value, np.ndarray)}
