# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs in virtual time with the settings of the prototype's switch program, each by itself and all together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sfc_testbed.analysis.results.result import counted
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.numbering import number_flows
from sfc_testbed.testbed.execution.execute import StoredRun
from tests.testbed.incasts import assert_all_arrived, plan_incast, run_plan, trace

NETWORK = ("degree=12", "topology.hosts_per_tor=12")


def _run(folder: Path, scheme: str, *settings: str) -> StoredRun:
    """Run an incast in which each sender has two flows to the receiver."""
    plan = plan_incast(scheme, *NETWORK, *settings)
    twice = [
        FlowRequest(flow.src, flow.dst, flow.size_bytes // 2, flow.start_ns, flow.tag)
        for flow in plan.flows
        for _ in range(2)
    ]
    run = run_plan(replace(plan, flows=number_flows(twice)), folder)
    assert run.result.flows.total == 24
    assert_all_arrived(run.result)
    return run


@pytest.mark.parametrize(
    ("scheme", "setting"),
    [
        ("sfc+none", "suppression_key=addresses"),
        ("sfc+none", "suppression_filter=banks"),
        ("sfc+none", "depth_source=departure"),
        ("sfc+none", "pause_method=shifts"),
        ("sfc+none", "pause_cache=false"),
        ("sfc-p+none", "sfc_p_quanta=shifts"),
    ],
)
def test_each_setting_changes_the_signals_and_loses_nothing(tmp_path: Path, scheme: str, setting: str) -> None:
    before, after = _run(tmp_path, scheme), _run(tmp_path, scheme, f"switch.{setting}")
    table = "flows" if scheme.startswith("sfc-p") else "signals"
    assert not trace(before, table).equals(trace(after, table))


def test_the_bit_of_a_queue_is_a_threshold_in_steps_of_eight_cells(tmp_path: Path) -> None:
    """The same run results from a threshold just below 177 groups of 1,408 B, which contain the 250,000 B of Q_th."""
    bit = _run(tmp_path, "sfc+none", "switch.queue_bit=true", "switch.q_th_bytes=250000")
    threshold = _run(tmp_path, "sfc+none", f"switch.q_th_bytes={177 * 1_408 - 1}")
    for table in ("flows", "signals", "queues"):
        assert trace(bit, table).equals(trace(threshold, table))


@pytest.mark.parametrize("scheme", ["sfc-prototype", "sfc-prototype-p", "sfc-prototype+hpcc", "sfc-prototype+dcqcn"])
def test_all_settings_together_pause_senders(tmp_path: Path, scheme: str) -> None:
    run = _run(tmp_path, scheme)
    assert counted(run.result.bts).sent > 0
    assert counted(run.result.bts).cache_hits == 0
