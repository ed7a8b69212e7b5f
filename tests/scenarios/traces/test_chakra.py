# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of Chakra execution traces: what is read, and the file and node of what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.traces.files import read_trace
from sfc_testbed.scenarios.traffic.traces.messages import messages_of
from tests.scenarios.traces.chakra_files import (
    COLLECTIVE,
    COMPUTATION,
    LOAD,
    METADATA,
    RECEIVE,
    SEND,
    content_of,
    node,
    write_trace,
)

Nodes = Sequence[dict[str, Any]]
HOSTS = ("h1", "h2", "h3", "h4", "h5")


def _messages(folder: Path, *ranks: Nodes) -> list[FlowRequest]:
    requests, _ = messages_of(read_trace(write_trace(folder, *ranks)), [f"h{rank + 1}" for rank in range(len(ranks))])
    return requests


def _collectives(kind: int, size_bytes: int, ranks: int, **more: Any) -> list[Nodes]:
    return [[node(7, COLLECTIVE, comm_type=kind, comm_size=size_bytes, **more)]] * ranks


def test_sends_and_receives_match_by_tag_and_wait_for_computations(tmp_path: Path) -> None:
    """A node may depend on a later one of the file."""
    requests = _messages(
        tmp_path,
        [
            node(5, SEND, 9, comm_dst=1, comm_size=100, comm_tag=3),
            node(9, COMPUTATION, us=4),
            node(11, RECEIVE, comm_src=1, comm_dst=0, comm_size=6),
        ],
        [
            node(0, RECEIVE, comm_src=0, comm_size=100, comm_tag=3),
            node(1, COMPUTATION, 0, is_cpu_op=True),
            node(2, SEND, 1, comm_dst=0, comm_size=6),
        ],
    )
    assert requests == [
        FlowRequest("h1", "h2", 100, 4_000, "trace"),
        FlowRequest("h2", "h1", 6, 1, "trace", after=(1,), delay_ns=1),
    ]


@pytest.mark.parametrize(
    ("kind", "name", "sizes"),
    [
        (0, "all-reduce", [25] * 4 * 6),
        (2, "all-gather", [100] * 4 * 3),  # the size is what each rank has before
        (7, "reduce-scatter", [25] * 4 * 3),
        (6, "all-to-all", [25] * 4 * 3),
    ],
)
def test_a_collective_becomes_messages(tmp_path: Path, kind: int, name: str, sizes: list[int]) -> None:
    requests = _messages(tmp_path, *_collectives(kind, 100, 4))
    assert {request.tag for request in requests} == {name}
    assert [request.size_bytes for request in requests] == sizes
    received = {
        host: sum(flow.size_bytes for flow in requests if flow.dst == host) for host in ("h1", "h2", "h3", "h4")
    }
    assert set(received.values()) == {sum(sizes) // 4}
    steps = len(sizes) // 4
    assert sum(not request.after for request in requests) == (12 if name == "all-to-all" else len(sizes) // steps)


def test_a_broadcast_begins_at_the_first_rank_of_its_group(tmp_path: Path) -> None:
    requests = _messages(tmp_path, *_collectives(5, 100, 5))
    received = {host: sum(flow.size_bytes for flow in requests if flow.dst == host) for host in HOSTS}
    assert received == {"h1": 0, "h2": 100, "h3": 100, "h4": 100, "h5": 100}
    assert {request.src for request in requests if not request.after} == {"h1"}


def test_the_next_collective_waits_for_the_whole_one_before(tmp_path: Path) -> None:
    """A rank goes on when it has all of the first collective, and its own messages are acknowledged."""
    both = [node(1, COLLECTIVE, comm_type=6, comm_size=30), node(2, COLLECTIVE, 1, comm_type=6, comm_size=60)]
    requests = _messages(tmp_path, both, both, both)
    second = [request for request in requests if request.size_bytes == 20]
    assert len(requests) == 12
    assert len(second) == 6
    for request in second:
        waits = {(requests[number - 1].src, requests[number - 1].dst) for number in request.after}
        assert waits == {(other, request.src) for other in {"h1", "h2", "h3"} - {request.src}} | {
            (request.src, other) for other in {"h1", "h2", "h3"} - {request.src}
        }


def test_process_groups_divide_the_ranks(tmp_path: Path) -> None:
    groups = """['[{"pg_name": "1", "ranks": [0, 2]}, {"pg_name": "2", "ranks": [1, 3]}]']"""
    ranks = [
        [node(0, METADATA, values=groups), node(1, COLLECTIVE, comm_type=6, comm_size=8, pg_name=str(1 + rank % 2))]
        for rank in range(4)
    ]
    assert {(request.src, request.dst) for request in _messages(tmp_path, *ranks)} == {
        ("h1", "h3"), ("h3", "h1"), ("h2", "h4"), ("h4", "h2"),
    }  # fmt: skip


def test_calls_of_collectives_on_the_cpu_are_computations(tmp_path: Path) -> None:
    """PyTorch's traces have a node for the call, which has no size and may depend on itself, and one for the kernel."""
    call = node(1, COLLECTIVE, 1, us=80, is_cpu_op=True)
    kernel = node(2, COLLECTIVE, 1, us=900, comm_type=6, comm_size=8, is_cpu_op=False, involved_dim=[True])
    trace = read_trace(write_trace(tmp_path, [call, kernel], [kernel | {"after": ()}]))
    requests, notes = messages_of(trace, ["h1", "h2"])
    assert [(request.src, request.start_ns) for request in requests] == [("h1", 80_000), ("h2", 0)]
    assert notes == ["trace.0.et: 1 dependencies of nodes on themselves are ignored"]


_SEND = node(4, SEND, comm_dst=1, comm_size=5)


@pytest.mark.parametrize(
    ("ranks", "words"),
    [
        ([[_SEND], []], r"^trace.0.et: node 4: rank 0 sends to rank 1 with tag 0, but rank 1 has no matching receive"),
        ([[_SEND]], r"^trace.0.et: node 4: COMM_SEND_NODE: comm_dst must be another rank of 0 to 0, .* not 1$"),
        ([[node(4, SEND, comm_size=5)], []], "comm_dst must be another rank of 0 to 1, which have files, not None$"),
        (
            [[node(4, SEND, comm_dst=1, comm_src=1)], []],
            "^trace.0.et: node 4: comm_src is 1, but the file is of rank 0$",
        ),
        (
            [[node(4, SEND, comm_dst=1)], []],
            "^trace.0.et: node 4: COMM_SEND_NODE: comm_size must be a number of bytes$",
        ),
        ([[node(4, LOAD)], []], "^trace.0.et: node 4: MEM_LOAD_NODE: remote memory is not represented$"),
        ([[node(4, 12)], []], "^trace.0.et: node 4: unknown type 12$"),
        ([[node(4, COMPUTATION, 3)], []], "^trace.0.et: node 4: depends on node 3, which the file does not have$"),
        ([[node(4, COMPUTATION), node(4, COMPUTATION)], []], "^trace.0.et: node 4: the id is already that of another"),
        (
            [[node(4, COMPUTATION, 5), node(5, COMPUTATION, 4)], []],
            "^trace.0.et: node 4: .* in a circle: [^ ]* node 4 waits for [^ ]* node 5 waits for [^ ]* node 4$",
        ),
        (
            [[node(4, COMPUTATION, num_ops=9)], []],
            "^trace.0.et: node 4: has num_ops, but no duration_micros; a roofline",
        ),
        (
            [[node(1, COMPUTATION, us=1), node(2, COMPUTATION, us=1)], []],
            "^trace.0.et: node 2: .* trace.0.et: node 1 are on the same processor of rank 0",
        ),
        (_collectives(9, 8, 2), "^trace.0.et: node 7: comm_type BARRIER is not represented; ALL_REDUCE, ALL_GATHER"),
        (_collectives(44, 8, 2), "^trace.0.et: node 7: comm_type 44 is not represented"),
        (_collectives(0, 8, 2, involved_dim=[True, False]), "^trace.0.et: node 7: involved_dim: collectives over some"),
        (
            _collectives(0, 8, 2, pg_name="9"),
            "^trace.0.et: node 7: process group '9' is not defined by a metadata node",
        ),
        (
            [*_collectives(0, 8, 1), *_collectives(0, 9, 1)],
            "^trace.1.et: node 7: collective 1 of its group is all-reduce of 9 B, but all-reduce of 8 B in trace.0.et",
        ),
        ([[node(1, METADATA, values="['[7]']")], []], "^trace.0.et: node 1: not a list of process groups with pg_name"),
        ([[node(1, METADATA, values="""['[{"pg_name": "1", "ranks": [5]}]']""")], []], "a rank without a file"),
    ],
)
def test_the_node_of_what_is_refused_is_named(tmp_path: Path, ranks: list[Nodes], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        _messages(tmp_path, *ranks)


def test_the_file_of_each_rank_is_needed(tmp_path: Path) -> None:
    path = write_trace(tmp_path, *_collectives(0, 8, 4))
    assert read_trace(tmp_path / "trace.2.et").ranks == 4
    (tmp_path / "trace.2.et").unlink()
    words = "^trace.2.et is missing: each of the ranks 0 to 3 needs its file, and 3 are there$"
    with pytest.raises(ScenarioError, match=words):
        read_trace(path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "^trace.0.et does not begin with Chakra metadata; is it a Chakra trace\\?$"),
        (b"num_ranks 1\n", "^trace.0.et ends in a record: 110 B are announced at byte 0, but 11 B follow$"),
        (b"\x1f\x8b\x08", "^trace.0.et is compressed; decompress it with gunzip$"),
        (b"\xff\xff\xff\xff\xff\x01", "^trace.0.et has an invalid length of a record at byte 0$"),
        (content_of([]) + b"\x03\x0a\x7fx", "^trace.0.et has an invalid record at byte 8$"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "trace.0.et").write_bytes(content)
    with pytest.raises(ScenarioError, match=words):
        read_trace(tmp_path / "trace.0.et")
