# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of SimAI workloads: groups, phases, and the lines of what is refused."""

from __future__ import annotations

import pytest

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.traces.messages import messages_of
from sfc_testbed.scenarios.traffic.traces.simai import parse_simai

HEADER = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {} ep: {} pp: 1 vpp: 8 ga: 1 all_gpus: {} checkpoints: 0"
)
NONE = "1 NONE 0"


def _text(rows: list[str], tensor: int = 1, expert: int = 1, gpus: int = 2) -> str:
    return "\n".join([HEADER.format(tensor, expert, gpus), str(len(rows)), *(f"layer\t-1 {row} 7" for row in rows)])


def _messages(text: str, passes: int = 1) -> list[FlowRequest]:
    trace = parse_simai(text.splitlines(), passes=passes)
    return messages_of(trace, [f"h{rank}" for rank in range(trace.ranks)])[0]


def _groups(requests: list[FlowRequest]) -> set[frozenset[str]]:
    """Return the hosts that exchange messages with one another."""
    pairs = {(request.src, request.dst) for request in requests}
    return {frozenset({host, *(dst for src, dst in pairs if src == host)}) for host in {src for src, _ in pairs}}


@pytest.mark.parametrize(
    ("row", "tag", "groups"),
    [
        (f"1 ALLTOALL 8000 {NONE} {NONE}", "tp-all-to-all", ["0 1", "2 3", "4 5", "6 7"]),
        (f"{NONE} 1 ALLTOALL_EP 8000 {NONE}", "ep-all-to-all", ["0 2", "1 3", "4 6", "5 7"]),
        (f"{NONE} {NONE} 1 ALLTOALL_DP_EP 8000", "dp-ep-all-to-all", ["0 4", "1 5", "2 6", "3 7"]),
        (f"{NONE} {NONE} 1 ALLTOALL 8000", "dp-all-to-all", ["0 2 4 6", "1 3 5 7"]),
    ],
)
def test_groups_are_those_of_the_simulator(row: str, tag: str, groups: list[str]) -> None:
    """A plain collective of weight gradients is one of data parallelism, all others are of tensor parallelism."""
    requests = _messages(_text([row], tensor=2, expert=2, gpus=8))
    assert {request.tag for request in requests} == {tag}
    assert _groups(requests) == {frozenset(f"h{rank}" for rank in group.split()) for group in groups}
    assert {request.size_bytes for request in requests} == {8_000 // len(groups[0].split())}


def test_phases_follow_one_another() -> None:
    """A forward collective waits for its computation; the weight gradients' collective delays nothing of its pass."""
    rows = ["100 ALLTOALL_EP 10000 20 NONE 0 30 ALLTOALL 6000", "1000 NONE 0 5 ALLTOALL_EP 8000 40 NONE 0"]
    requests = [request for request in _messages(_text(rows, expert=2)) if request.src == "h0"]
    forward, inputs, weights = requests
    first_ns = 100
    inputs_ns = first_ns + 7 + 1_000 + 5
    weights_ns = inputs_ns + 7 + 40 + 20 + 30
    starts = [(5_000, first_ns), (4_000, inputs_ns), (3_000, weights_ns)]
    assert [(request.size_bytes, request.start_ns) for request in requests] == starts
    assert forward.after == ()
    assert set(inputs.delays_ns) == {inputs_ns - first_ns}
    assert set(weights.delays_ns) == {weights_ns - inputs_ns}


def test_the_next_iteration_waits_for_the_weights() -> None:
    row = f"100 ALLTOALL_EP 10000 {NONE} 30 ALLTOALL 6000"
    first, update, second, _ = (flow for flow in _messages(_text([row], expert=2), passes=2) if flow.src == "h0")
    assert (first.size_bytes, update.size_bytes, second.size_bytes) == (5_000, 3_000, 5_000)
    assert set(second.delays_ns) == {7 + 100}  # the update, then the computation
    assert len(second.after) == 2


def test_small_forward_collectives_are_increased_as_in_the_simulator() -> None:
    requests = _messages(_text([f"1 ALLTOALL_EP 100 {NONE} 1 ALLTOALL 100"], expert=2))
    assert sorted({request.size_bytes for request in requests}) == [50, 2_048]


GOOD = f"1 ALLTOALL 8 {NONE} {NONE}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("MICRO\n1\n", "^line 1: policy MICRO is not represented; only HYBRID_TRANSFORMER_FWD_IN_BCKWD is$"),
        (_text([GOOD]).replace("pp: 1", "pp: 4"), "^line 1: pp 4: messages between stages of a pipeline"),
        (_text([GOOD]).replace("checkpoints: 0", "checkpoints: 1 0"), "^line 1: checkpoints: recomputation is not"),
        (_text([GOOD]).replace("ep: 1", ""), "^line 1: ep: must be a whole number, not ''$"),
        (
            _text([GOOD], tensor=3, gpus=8),
            "^line 1: all_gpus 8 is not a multiple of model_parallel_NPU_group 3 x ep 1$",
        ),
        (_text([GOOD], gpus=1), "^line 1: all_gpus: must be 2 to 100000, not 1$"),
        (_text([]), "^line 2: announces 0 rows, but the file has 0; correct it$"),
        (_text([GOOD]).replace("\n1\n", "\n2\n"), "^line 2: announces 2 rows, but the file has 1; correct it$"),
        (_text([GOOD, GOOD]).replace("\n2\n", "\n1\n"), "^line 4: line 2 announces 1 rows, but there are more$"),
        (_text([GOOD]).replace("\n1\n", "\nx\n"), "^line 2: not the number of rows: 'x'$"),
        (_text([GOOD[2:]]), "^line 3: not `name -1 ns collective bytes .*`, 12 columns: "),
        (_text([GOOD.replace("8", "-8")]), "^line 3: not `name .*: '-8' is not a whole number from 0$"),
        (_text([GOOD.replace("8", "x")]), "^line 3: not `name .* 'x' is not a whole number from 0$"),
        (_text([GOOD.replace("ALLTOALL", "SHUFFLE")]), "^line 3: collective 'SHUFFLE': not NONE, ALLREDUCE, ALLGATHER"),
        (_text([GOOD.replace("ALLTOALL", "ALLTOALL_PP")]), "^line 3: collective 'ALLTOALL_PP': not"),
        (_text([f"{NONE} {NONE} {NONE}"]), "^the trace: no message between two hosts$"),
    ],
)
def test_the_line_of_what_is_refused_is_named(text: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        _messages(text)
