# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the scenario `trace`: placement of ranks, and traces as flow lists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.flow_file import FILE_NAME, read_flows
from sfc_testbed.scenarios.traffic.trace import Replay
from sfc_testbed.testbed.execution.execute import execute
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.recording.outcome import Silent
from sfc_testbed.topologies.shapes import shape
from tests.scenarios.traces.chakra_files import COLLECTIVE, node, write_trace

NETWORK = shape("clos", {"hosts_per_tor": 4, "tors": 2}).build()
SIMAI = (
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 ep: 1 pp: 1 all_gpus: 4\n1\n"
    "layer -1 5000 ALLREDUCE 40000 1 NONE 0 1 NONE 0 1\n"
)


def _flows(**settings: Any) -> list[FlowRequest]:
    return Replay(**settings).flows(NETWORK, np.random.default_rng(1))


def _sources(**settings: Any) -> list[str]:
    return list(dict.fromkeys(flow.src for flow in _flows(**settings)))


def test_ranks_are_placed_on_hosts() -> None:
    assert sorted(_sources()) == ["h1", "h2", "h3", "h4"]
    assert sorted(_sources(placement="striped")) == ["h1", "h2", "h5", "h6"]
    assert sorted(_sources(ranks=["h8", "h2", "h3", "h1"])) == ["h1", "h2", "h3", "h8"]
    drawn = _sources(placement="random")
    assert len(drawn) == 4
    assert drawn == _sources(placement="random")
    assert _flows(placement="random")[0] == FlowRequest(drawn[0], drawn[1], 60_000, 20_000, "trace")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ranks": ["h1"]}, "^training: --set ranks names 1 hosts, but the trace has 4 ranks$"),
        ({"ranks": ["h1", "h2", "h3", "h9"]}, "^training: no host 'h9' in this network"),
        ({"ranks": ["h1"] * 4}, "^training: the trace: no message between two hosts$"),
        ({"file": "nowhere.goal"}, "^nowhere.goal: cannot be read as a trace: no such file$"),
        ({"file": "nowhere.0.et"}, "^nowhere.0.et: cannot be read as a trace: no such file$"),
        ({"file": "/dev/null"}, "^/dev/null: cannot be read as a trace: it is not a regular file$"),
        ({"file": __file__}, "^.*: not a trace: a GOAL schedule begins with `num_ranks N`, a SimAI workload with"),
    ],
)
def test_what_does_not_fit_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        _flows(**settings)


def test_more_ranks_than_hosts_are_refused_with_the_number_of_hosts(tmp_path: Path) -> None:
    path = write_trace(tmp_path, *[[node(1, COLLECTIVE, comm_type=0, comm_size=99)]] * 11)
    words = "the trace has 11 ranks, but this network has 8 hosts; use --set topology.hosts_per_tor=6, or another"
    with pytest.raises(ScenarioError, match=words):
        _flows(file=str(path))


@pytest.mark.parametrize("kind", ["goal", "simai", "chakra"])
def test_a_trace_is_a_flow_list_too(tmp_path: Path, kind: str) -> None:
    """Rank 0 is h1, as in the scenario with the placement packed."""
    path = tmp_path / "trace"
    if kind == "goal":
        path.write_text("num_ranks 2\nrank 0 {\ns: send 7b to 1\n}\nrank 1 {\nrecv 7b from 0\ncalc 5\n}\n")
    elif kind == "simai":
        path.write_text(SIMAI)
    else:
        write_trace(tmp_path, *[[node(1, COLLECTIVE, comm_type=6, comm_size=90)]] * 3)
    listed = read_flows(path, NETWORK)
    workload = Replay(file=str(path))
    assert list(listed.requests) == workload.flows(NETWORK, np.random.default_rng(0))
    assert listed.notes == workload.notes
    assert any("left out" in note for note in listed.notes) == (kind != "chakra")


def test_a_run_takes_as_long_as_its_computations_and_messages(tmp_path: Path) -> None:
    """A replay of the stored flow list is the same run. Every delay after a message is kept."""
    plan = plan_run(RunSpec("trace", "irn", clock="virtual", settings=parse_settings(("topology.hosts_per_tor=2",))))
    run = execute(plan, tmp_path, Silent(), page=False)
    completion = run.result.completion["trace"]
    assert completion.slowdown is not None
    assert 1 <= completion.slowdown < 1.05
    assert run.result.flows.completed == 48
    again = RunSpec(
        "flows",
        "irn",
        clock="virtual",
        flow_file=run.folder / FILE_NAME,
        settings=parse_settings(("topology.hosts_per_tor=2",)),
    )
    assert plan_run(again).flows == plan.flows
    assert any(isinstance(flow.delay_ns, tuple) for flow in plan.flows)


def test_a_long_computation_extends_the_default_duration(tmp_path: Path) -> None:
    """The longest run has time for all messages one after another."""
    path = tmp_path / "late.goal"
    path.write_text(
        "num_ranks 2\nrank 0 {\nc: calc 3000000000\ns: send 125000000b to 1\ns requires c\n}\n"
        "rank 1 {\nrecv 125000000b from 0\n}\n"
    )
    spec = RunSpec("trace", "irn", clock="virtual", settings=parse_settings((f"file={path}",)))
    assert plan_run(spec).config.duration_ms == pytest.approx(20 + 3_000 + 10)
