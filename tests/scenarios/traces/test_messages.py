# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that the messages of a trace are ready exactly when its operations say."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject

from sfc_testbed.scenarios.traffic.traces.messages import messages_of
from sfc_testbed.scenarios.traffic.traces.operations import Operation, Trace, in_order


@st.composite
def _traces(draw: st.DrawFn) -> Trace:
    """Draw a trace of some ranks whose operations wait for earlier ones, with every send before its receive."""
    ranks = draw(st.integers(2, 4))
    trace = Trace(ranks)
    own: list[list[int]] = [[] for _ in range(ranks)]

    def add(operation: Operation) -> None:
        for kind in (operation.after_end, operation.after_start):
            if own[operation.rank]:
                kind += draw(st.lists(st.sampled_from(own[operation.rank]), max_size=2))
        own[operation.rank].append(trace.add(operation))

    for number in range(draw(st.integers(1, 25))):
        rank, peer = draw(st.permutations(range(ranks)))[:2]
        if draw(st.booleans()):
            add(Operation("compute", rank, f"line {number}", duration_ns=draw(st.integers(0, 500))))
        add(Operation("send", rank, f"line {number}", peer, 10, number))
        add(Operation("receive", peer, f"line {number}", rank, 10, number))
    return trace


def _number(operation: Operation) -> int:
    """Return the number of the message of a send or receive."""
    assert isinstance(operation.match, int)
    return operation.match


def _simulated(trace: Trace, sends: list[int], times_ns: dict[int, tuple[int, int]]) -> dict[int, int]:
    """Return the start of each send, operation by operation. A message has a time to its delivery, then to its ACK."""
    starts, ends = [0] * len(trace.operations), [0] * len(trace.operations)
    for place in in_order(trace.operations, sends):
        operation = trace.operations[place]
        begins = [ends[other] for other in operation.after_end] + [starts[other] for other in operation.after_start]
        starts[place] = ends[place] = max(begins, default=0)
        if operation.kind == "compute":
            ends[place] += operation.duration_ns
        elif operation.kind == "send":
            ends[place] += sum(times_ns[_number(operation)])
        else:
            ends[place] = max(starts[place], starts[sends[place]] + times_ns[_number(operation)][0])
    return {
        _number(operation): starts[place]
        for place, operation in enumerate(trace.operations)
        if operation.kind == "send"
    }


@settings(max_examples=200, deadline=None, derandomize=True)
@given(_traces(), st.data())
def test_messages_are_ready_when_the_operations_before_them_have_ended(trace: Trace, data: DataObject) -> None:
    """The delays between messages give the same times as the operations one by one, whatever time messages take."""
    operations = trace.operations
    places = {_number(operation): place for place, operation in enumerate(operations) if operation.kind == "send"}
    sends = [places[_number(item)] if item.kind == "receive" else -1 for item in operations]
    times_ns = {match: (data.draw(st.integers(1, 900)), data.draw(st.integers(0, 90))) for match in places}
    expected_ns = _simulated(trace, sends, times_ns)
    for item in operations:  # the size identifies the message
        if item.kind != "compute":
            item.size_bytes = 1 + _number(item)
    requests, _ = messages_of(trace, [f"h{rank + 1}" for rank in range(trace.ranks)])
    ready_ns: list[int] = []
    for request in requests:
        ready = request.start_ns
        for number, delay_ns in zip(request.after, request.delays_ns, strict=True):
            before = requests[number - 1]
            delivery_ns, acknowledgment_ns = times_ns[before.size_bytes - 1]
            end_ns = ready_ns[number - 1] + delivery_ns + (acknowledgment_ns if before.src == request.src else 0)
            ready = max(ready, end_ns + delay_ns)
        ready_ns.append(ready)
    assert {request.size_bytes - 1: ready for request, ready in zip(requests, ready_ns, strict=True)} == expected_ns


def test_a_message_waits_for_no_more_messages_than_necessary() -> None:
    """A rank that answers every message waits for the last one only, because each answer waits for its question."""
    trace = Trace(2)
    before: list[int] = []
    answered: list[int] = []
    for number in range(20):
        question = Operation("send", 0, "line 1", 1, 10, number, after_end=list(answered))
        trace.add(question)
        before.append(trace.add(Operation("receive", 1, "line 1", 0, 10, number, after_end=before[-1:])))
        trace.add(Operation("send", 1, "line 1", 0, 10, -number - 1, after_end=before[-1:]))
        answered.append(trace.add(Operation("receive", 0, "line 1", 1, 10, -number - 1)))
    requests, _ = messages_of(trace, ["h1", "h2"])
    assert max(len(request.after) for request in requests) <= 2
