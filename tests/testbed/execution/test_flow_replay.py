# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run stores its flows; they can be replayed under any scheme and exported in the HPCC simulator's formats."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from ipaddress import IPv4Address
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.scenarios.listed import LISTED
from sfc_testbed.scenarios.traffic.cdf_files import format_hpcc_cdf
from sfc_testbed.scenarios.traffic.flow_file import FILE_NAME
from sfc_testbed.scenarios.traffic.sizes import WORKLOADS, load_sizes
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.execution.hpcc_export import export_hpcc
from tests.testbed.incasts import plan_virtual, run_plan, write_flows

SETTINGS = ("arrivals_us=60", "warmup_us=10", "cooldown_us=10", "load=0.2", "incast_load=0.3", "incast_degree=7",
            "incast_spacing=even", "sizes=storage")  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    return run_plan(plan_virtual("datacentre", "irn", *SETTINGS, seed=3), tmp_path_factory.mktemp("runs"))


def test_the_stored_list_replays_under_another_scheme(finished: StoredRun) -> None:
    plan = plan_virtual("datacentre", "sfc", seed=99, flow_file=finished.folder / FILE_NAME)
    original = plan_virtual("datacentre", "irn", *SETTINGS, seed=3)
    assert plan.flows == original.flows
    assert plan.config.measured_window_us == original.config.measured_window_us == (10.0, 50.0)
    assert str(finished.folder / FILE_NAME) in plan.config.command
    assert finished.result.measured_window_us == (10.0, 50.0)
    assert 0 < finished.result.fct_slowdown["all"].flows < finished.result.flows.total


def test_exported_files_equal_the_traces_and_can_be_replayed(finished: StoredRun, tmp_path: Path) -> None:
    """The columns are in the simulator's units: nodes from 0, times in ns from 2 s, port 200 for incast.

    Each flow of a pair of hosts has its own source port.
    """
    flow, fct, cdf = export_hpcc(finished.folder, tmp_path)
    plan = plan_virtual("datacentre", "sfc", *SETTINGS, seed=3)
    replay = plan_virtual("datacentre", flow_file=flow)
    first, second = ([(f.src, f.dst, f.size_bytes, f.start_ns) for f in flows] for flows in (plan.flows, replay.flows))
    assert first == second
    hosts = plan.topology.host
    flows = pl.read_parquet(finished.folder / "flows.parquet").sort("start_us", maintain_order=True)
    flow_count, *lines = flow.read_text().splitlines()
    assert int(flow_count) == len(lines) == flows.height == finished.result.flows.total
    for line, row in zip(lines, flows.iter_rows(named=True), strict=True):
        src, dst, _, port, size_bytes, start_s = line.split()
        assert (f"h{int(src) + 1}", f"h{int(dst) + 1}", int(size_bytes)) == (row["src"], row["dst"], row["size_bytes"])
        assert (port == "200") == (row["tag"] == "incast")
        assert (float(start_s) - 2) * 1e6 == pytest.approx(row["start_us"], abs=1e-3)
    done = {
        (hosts[row["src"]].ip, hosts[row["dst"]].ip, round(1000 * row["start_us"])): row for row in flows.to_dicts()
    }
    fct_rows = [line.split() for line in fct.read_text().splitlines()]
    assert len(fct_rows) == finished.result.flows.completed
    for sip, dip, _, port, size_bytes, start_ns, fct_ns, ideal_ns in fct_rows:
        row = done[IPv4Address(int(sip, 16)), IPv4Address(int(dip, 16)), int(start_ns) - 2_000_000_000]
        assert (int(size_bytes), port == "200") == (row["size_bytes"], row["tag"] == "incast")
        assert (int(fct_ns), int(ideal_ns)) == (round(1000 * row["fct_us"]), round(1000 * row["ideal_fct_us"]))
    ends = [(sip, dip, int(sport)) for sip, dip, sport, *_ in fct_rows]
    assert len(set(ends)) == len(ends)
    assert min(sport for *_, sport in ends) == 10_000
    most = max(Counter(flows.select("src", "dst").iter_rows()).values())
    assert max(sport for *_, sport in ends) < 10_000 + most < 10_000 + flows.height
    assert cdf.read_text() == format_hpcc_cdf(load_sizes("storage"))


@pytest.mark.parametrize("name", WORKLOADS)
def test_every_exported_distribution_is_strictly_increasing(name: str) -> None:
    """The simulator's generator refuses a file with equal values in a column."""
    points = [tuple(map(float, line.split())) for line in format_hpcc_cdf(load_sizes(name)).splitlines()]
    assert (points[0][1], points[-1][1]) == (0, 100)
    assert all(before[0] < after[0] and before[1] < after[1] for before, after in pairwise(points))


def test_a_replay_has_no_distribution_of_its_own(finished: StoredRun, tmp_path: Path) -> None:
    listed = finished.folder / FILE_NAME
    plan = plan_virtual("datacentre", flow_file=listed)
    assert plan.config.flow_file == listed
    folder = _copy(finished, tmp_path, flow_file=str(listed))
    assert [path.name for path in export_hpcc(folder, tmp_path / "out")] == ["flow.txt", "fct.txt"]


def test_a_missing_distribution_is_refused(finished: StoredRun, tmp_path: Path) -> None:
    folder = _copy(finished, tmp_path, workload={"sizes": str(tmp_path / "mine.csv")})
    with pytest.raises(UsageError, match="cannot be exported: sizes: unknown workload"):
        export_hpcc(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def _copy(run: StoredRun, tmp_path: Path, **changed: object) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(run.folder, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **changed}))
    return folder


def test_a_list_needs_no_scenario(tmp_path: Path) -> None:
    listed = write_flows(tmp_path / "mine.csv", "h1,h16,500,0,a", "h2,h3,500,30000000,a")
    plan = plan_virtual(LISTED.name, flow_file=listed)
    assert (plan.config.scenario, plan.topology.name, len(plan.flows)) == ("flows", "clos", 2)
    assert plan.config.duration_ms == 30 + 20
    assert plan.config.command.startswith("./runner.py run --scheme sfc --clock virtual --scale ci")
    star = plan_virtual(LISTED.name, "sfc", "topology.hosts=16", flow_file=listed, topology="star")
    assert star.topology.name == "star"


@pytest.mark.parametrize("scenario", ["incast", LISTED.name])
def test_settings_of_traffic_are_refused_beside_a_list(scenario: str, tmp_path: Path) -> None:
    """Traffic settings would have no effect on a list; network settings do."""
    listed = write_flows(tmp_path / "mine.csv", "h1,h2,500,0,a")
    plan = plan_virtual(scenario, "sfc", "topology.hosts_per_tor=2", flow_file=listed)
    assert (len(plan.topology.hosts), plan.config.workload) == (4, {})
    with pytest.raises(UsageError, match=r"^--set degree: --flows sets the traffic, .*; leave it out$"):
        plan_virtual(scenario, "sfc", "topology.hosts_per_tor=2", "degree=2", flow_file=listed)


def test_a_list_has_no_scale_and_no_scenario(tmp_path: Path) -> None:
    listed = write_flows(tmp_path / "mine.csv", "h1,h2,500,0,a")
    with pytest.raises(UsageError, match=r"^--scale paper: flows from a file have no scale; leave it out"):
        plan_virtual(LISTED.name, flow_file=listed, scale="paper")
    with pytest.raises(UsageError, match="unknown scenario 'flows'"):
        plan_virtual(LISTED.name)
