# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Contestants of `bench peers` get the flows of a plan and must deliver them. Speed itself is not tested here."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.benchmarks.peers import PEERS, WORKS, PeersBenchmark, Work, incast
from bench.instruments.benchmark import Skipped
from bench.instruments.contestants import HpccSimulator, Htsim, HtsimUec, Ns3, Ours, Peer, RaceError
from sfc_testbed.scenarios.traffic.hpcc_files import parse_hpcc_flows
from sfc_testbed.simulators.hpcc import configuration
from sfc_testbed.simulators.htsim import traffic_matrix
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from tests.simulators.test_hpcc import FCT_LINE, SPEC


@pytest.fixture(scope="module")
def plan() -> RunPlan:
    """Return an incast from h1 and h2 to h4."""
    return plan_run(SPEC)


def program(folder: Path, *lines: str) -> str:
    """Write a program that takes the place of a peer and return its path."""
    path = folder / "peer"
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)
    return str(path)


def test_hpcc_simulator_gets_the_flows_and_must_finish_them(plan: RunPlan, tmp_path: Path) -> None:
    """A program that finishes only one of the two messages is an error."""
    line = f"echo {FCT_LINE} >> fct.txt"
    assert HpccSimulator(program(tmp_path, line, line)).race(plan, tmp_path).wall_s > 0
    flows = [flow for _, flow in parse_hpcc_flows((tmp_path / "flow.txt").read_text().splitlines()).numbered]
    assert {(flow.src, flow.dst, flow.size_bytes) for flow in flows} == {("h1", "h4", 4000), ("h2", "h4", 4000)}
    (tmp_path / "fct.txt").unlink()
    with pytest.raises(RaceError, match=r"delivered 1 messages \(4000 bytes\) of 2 messages \(8000 bytes\)"):
        HpccSimulator(program(tmp_path, line)).race(plan, tmp_path)


def test_htsim_gets_the_flows_and_must_finish_them(plan: RunPlan, tmp_path: Path) -> None:
    lines = [f"{int(flow.src[1:]) - 1}->3 start {1000 * flow.start_ns} size 4000" for flow in plan.flows]
    assert traffic_matrix(plan).splitlines() == ["Nodes 4", "Connections 2", *lines]
    line = "echo flow finished at 1.5 total bytes 4000"
    assert Htsim(program(tmp_path, line, line)).race(plan, tmp_path).wall_s > 0
    with pytest.raises(RaceError, match="delivered 1 messages"):
        Htsim(program(tmp_path, line)).race(plan, tmp_path)


def test_htsim_uec_must_finish_the_flows(plan: RunPlan, tmp_path: Path) -> None:
    line = "echo Flow Uec_0_3 finished at 1.5 total messages 1 total packets 4 RTS 0 total bytes 4000 in_flight now 0"
    assert HtsimUec(program(tmp_path, line, line)).race(plan, tmp_path).wall_s > 0
    starts = [line.split()[2] for line in (tmp_path / "matrix").read_text().splitlines()[2:]]
    assert starts == [str(flow.start_ns // 1000) for flow in plan.flows]
    with pytest.raises(RaceError, match="delivered 1 messages"):
        HtsimUec(program(tmp_path, line)).race(plan, tmp_path)


@pytest.mark.parametrize("printed", ["", "no JSON", "{}", "[1]"])
def test_peer_without_valid_output_is_an_error(plan: RunPlan, printed: str, tmp_path: Path) -> None:
    """The exit code of the peer is 0."""
    with pytest.raises(RaceError, match="ns-3"):
        Ns3(program(tmp_path, f"echo '{printed}'")).race(plan, tmp_path)


def test_our_command_carries_the_flows(plan: RunPlan, tmp_path: Path) -> None:
    spent = Ours(2).race(plan, tmp_path)
    assert spent.cpu_s > 0
    assert spent.peak_bytes > 10_000_000


@pytest.mark.parametrize("peer", PEERS)
def test_installed_peer_carries_the_flows(peer: type[Peer], tmp_path: Path) -> None:
    path = os.environ.get(peer.variable)
    if not path:
        pytest.skip(f"{peer.variable} is not set ({peer.name})")
    spec = incast("message_bytes=4000", scheme="pfc+hpcc", duration_ms=100)
    assert peer(path).race(plan_run(spec), tmp_path).cpu_s > 0


def test_peers_benchmark_is_skipped_without_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason names the environment variables to set."""
    for peer in PEERS:
        monkeypatch.delenv(peer.variable, raising=False)
    with pytest.raises(Skipped) as reason:
        PeersBenchmark().run()
    assert all(f"{peer.variable} is not set ({peer.name})" in str(reason.value) for peer in PEERS)


def test_peers_benchmark_has_rates_and_ratios_of_each_measured_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A work whose peers are all missing is left out."""
    monkeypatch.delenv(Htsim.variable, raising=False)
    lines = f"echo {FCT_LINE} >> fct.txt"
    monkeypatch.setenv(HpccSimulator.variable, program(tmp_path, lines, lines))
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    works = (Work("small", SPEC, (HpccSimulator,)), Work("other", SPEC, (Htsim,)))
    figures = PeersBenchmark(works, rounds=1).run()
    names = ["ours", "ours, 2 workers", "HPCC simulator", "HPCC simulator / ours", "HPCC simulator / ours, 2 workers"]
    expected = [f"small: {name}, {time} time" for name in names for time in ("wall", "CPU")]
    assert [figure.name for figure in figures] == expected
    assert figures[0].note == "8 data packets; median of 1"


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.name)
def test_works_can_be_planned(work: Work, tmp_path: Path) -> None:
    """Schemes fit the peers."""
    planned = plan_run(work.written(tmp_path))
    if HpccSimulator in work.peers:
        configuration(planned)
