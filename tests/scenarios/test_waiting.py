# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of messages that wait for others: their numbering, and dependencies that are refused."""

from __future__ import annotations

import pytest

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.numbering import number_flows
from sfc_testbed.scenarios.model.scenario import ScenarioError


def _flow(path: str, start_ns: int = 0, *after: int, delay_ns: int = 0, pair: int = 0) -> FlowRequest:
    """Return a request; the path `1>2` goes from h1 to h2."""
    src, dst = (f"h{number}" for number in path.split(">"))
    return FlowRequest(src, dst, 1_000, start_ns, "x", after=after, delay_ns=delay_ns, queue_pair=pair)


def test_a_waiting_message_is_numbered_after_those_it_waits_for() -> None:
    """The start of a message is the earliest that the delays before it allow. `after` has the new numbers."""
    flows = number_flows([_flow("3>1", 0, 2, delay_ns=70), _flow("2>3", 0, 3, delay_ns=5), _flow("1>2", 40)])
    assert [(flow.src, flow.flow_id, flow.start_ns, flow.after) for flow in flows] == [
        ("h1", 1, 40, ()),
        ("h2", 2, 45, (1,)),
        ("h3", 3, 115, (2,)),
    ]
    assert number_flows(flows) == flows


def test_each_message_that_is_waited_for_may_have_its_own_delay() -> None:
    """The delays follow the new numbers. Of a message that is named twice, the longer delay counts."""
    last = FlowRequest("h1", "h3", 9, 0, "x", after=(3, 1, 3), delay_ns=(7, 50, 20))
    flows = number_flows([_flow("2>1", 100), last, _flow("3>1", 10)])
    assert [(flow.start_ns, flow.after, flow.delay_ns) for flow in flows] == [
        (10, (), 0),
        (100, (), 0),
        (150, (1, 2), (20, 50)),
    ]
    assert number_flows(flows) == flows
    with pytest.raises(ScenarioError, match=r"^flow 2 has 2 delays, but waits for 1 flows; give one delay"):
        number_flows([_flow("2>1"), FlowRequest("h1", "h3", 9, 0, "x", after=(1,), delay_ns=(7, 50))])


def test_messages_without_dependencies_are_ordered_by_start() -> None:
    """Messages with the same start keep their order."""
    flows = number_flows([_flow("1>2", 9), _flow("3>4", 5), _flow("2>1", 5)])
    assert [(flow.src, flow.start_ns) for flow in flows] == [("h3", 5), ("h2", 5), ("h1", 9)]


@pytest.mark.parametrize(
    ("flows", "words"),
    [
        ([_flow("1>2"), _flow("2>3", 0, 7)], "^flow 2 waits for flow 7, which does not exist; flows are 1 to 2$"),
        ([_flow("1>2"), _flow("2>3", 0, 0)], "^flow 2 waits for flow 0, which"),
        (
            [_flow("1>2"), _flow("3>4", 0, 1)],
            "^flow 2 waits for flow 1, but its source h3 is neither source nor destination of that flow, .*h1 to h2$",
        ),
        ([_flow("1>2", 0, 1)], "in a circle: flow 1 waits for flow 1$"),
        (
            [_flow("1>2"), _flow("2>3", 0, 4), _flow("3>1", 0, 2), _flow("1>2", 0, 3, 1)],
            "in a circle: flow 2 waits for flow 4 waits for flow 3 waits for flow 2$",
        ),
    ],
)
def test_messages_that_can_never_be_sent_are_refused(flows: list[FlowRequest], words: str) -> None:
    """The error numbers flows by their positions in the list, from 1."""
    with pytest.raises(ScenarioError, match=words):
        number_flows(flows)


_INTO_1 = [_flow("3>1", pair=1), _flow("3>1", 10, pair=1)]


@pytest.mark.parametrize(
    ("first", "second", "is_known"),
    [
        (_flow("1>2", 0, pair=1), _flow("1>2", 0, 1, pair=1), True),
        (_flow("1>2", 0, 1, pair=1), _flow("1>2", 20, 2, pair=1), True),
        (_flow("1>2", 0, 1, pair=1), _flow("1>2", 20, 3, pair=1), True),
        (_flow("1>2", 0, 1, pair=1), _flow("1>2", 20, 2, pair=2), True),
        (_flow("1>2", 0, 1, pair=1, delay_ns=5), _flow("1>2", 20, 2, pair=1), False),
        (_flow("1>2", 0, 2, pair=1), _flow("1>2", 20, 1, pair=1), False),
        (_flow("1>2", 0, 1, pair=1), _flow("1>2", 20, pair=1), False),
    ],
)
def test_messages_of_a_queue_pair_must_become_ready_in_order(
    first: FlowRequest, second: FlowRequest, is_known: bool
) -> None:
    """The two ends rely on a fixed order. Lists whose dependencies do not imply this order are refused."""
    flows = [*_INTO_1, first, second]
    if is_known:
        assert [flow.flow_id for flow in number_flows(flows)] == [1, 2, 3, 4]
    else:
        with pytest.raises(ScenarioError, match=r"flow 4 may be ready before flow 3, .* let flow 4 wait for it too$"):
            number_flows(flows)
