# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`validate --peer`: a stand-in for the simulator that completes each flow in a given time, and the comparison."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from sfc_testbed.simulators import powertcp
from sfc_testbed.simulators.comparison import FILE_NAME, read_peer_validation
from sfc_testbed.simulators.hpcc import VARIABLE
from sfc_testbed.simulators.run import PEERS, PeerCase, case_of, standard_cases, validate_with_peer
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.plan import plan_run

SETTINGS = ("degree=2", "message_bytes=4000", "topology.hosts_per_tor=2", "topology.spines=1")
STAND_IN = """#!/usr/bin/env python3
import itertools, pathlib, time
lines = pathlib.Path("flow.txt").read_text().splitlines()[1:{last}]
with open("queues.txt", "w") as queues:
    queues.write("time: 2100000000\\n4 1 999980 0 20\\n")
with open("fct.txt", "w") as table:
    for line in lines:
        src, dst, _, port, size, start = line.split()
        ends = " ".join(f"0b{{int(host):04x}}01" for host in (src, dst))
        table.write(f"{{ends}} 10000 {{port}} {{size}} {{round(float(start) * 1e9)}} 20000 1\\n")
{after}
"""


def case(scheme: str = "pfc+hpcc") -> PeerCase:
    return case_of("incast", scheme, "ci", SETTINGS)


def stand_in(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, variable: str = VARIABLE, last: str = "", after: str = ""
) -> None:
    program = folder / "third"
    program.write_text(STAND_IN.format(last=last, after=after))
    program.chmod(0o755)
    monkeypatch.setenv(variable, str(program))


def test_both_sides_are_compared_flow_by_flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in goes on after its last flow, as timers of the simulator do, and is ended."""
    stand_in(tmp_path, monkeypatch, after="time.sleep(600)")
    validation, folder = validate_with_peer("hpcc-simulator", [case()], "incast", tmp_path, print)
    assert validation == read_peer_validation(folder / FILE_NAME)
    assert not validation.failures
    [run] = validation.runs
    [group] = run.groups
    assert (run.flows, group.group, group.flows, group.p95, group.p99) == (2, "incast", 2, None, None)
    assert group.mean is not None and run.mean_queued_bytes is not None and run.peak_queue_bytes is not None
    peers = {peer for _, peer in run.points_us}
    assert peers == {20.0}
    ours = sum(us for us, _ in run.points_us) / 2
    assert group.mean.share == pytest.approx(ours / 20 - 1)
    assert run.peak_queue_bytes.peer == 2_000
    starts_ns = [flow.start_ns for flow in plan_run(case().request).flows]
    span_ns = max(starts_ns) - min(starts_ns) + 20_000
    assert run.mean_queued_bytes.peer == pytest.approx(20 * 2_500 * 100 / span_ns)
    assert 0 < run.peak_queue_bytes.ours < 8_000


def test_a_simulator_without_queues_is_ended_after_its_last_flow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(tmp_path, monkeypatch, variable=powertcp.VARIABLE, after="time.sleep(600)")
    of_powertcp = case_of("incast", "pfc+powertcp", "ci", (*SETTINGS, *powertcp.PARAMETERS))
    validation, _ = validate_with_peer("powertcp-simulator", [of_powertcp], "incast", tmp_path, print)
    assert not validation.failures
    assert (validation.runs[0].flows, validation.runs[0].peak_queue_bytes) == (2, None)


def test_a_flow_that_the_simulator_loses_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, last="2")
    validation, _ = validate_with_peer("hpcc-simulator", [case()], "incast", tmp_path, print)
    assert not validation.runs
    assert "2 of 2 flows completed, the peer's 1" in validation.failures[0]


def test_nothing_starts_without_the_program_or_for_another_scheme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(UsageError, match=f"set {VARIABLE}.* not set"):
        validate_with_peer("hpcc-simulator", [case()], "incast", tmp_path, print)
    with pytest.raises(UsageError, match="unknown simulator 'ns3'; choose from hpcc-simulator, conweave-simulator"):
        validate_with_peer("ns3", [case()], "incast", tmp_path, print)
    with pytest.raises(UsageError, match="unknown simulator 'ns3'"):
        standard_cases("ns3")
    stand_in(tmp_path, monkeypatch)
    with pytest.raises(UsageError, match=r"scheme sfc\+hpcc"):
        validate_with_peer("hpcc-simulator", [case("sfc+hpcc")], "incast", tmp_path, print)
    assert [path.name for path in tmp_path.iterdir()] == ["third"]


def test_every_standard_network_is_simulated_with_every_scheme() -> None:
    cases = standard_cases("hpcc-simulator")
    assert len({case.label for case in cases}) == len(cases)
    schemes = {case.request.scheme for case in cases}
    assert {"pfc+hpcc", "pfc+dcqcn", "pfc+dctcp", "pfc+timely"} <= schemes
    networks = {case.label.removesuffix(case.request.scheme) for case in cases}
    assert len(cases) == len(networks) * len(schemes)


@pytest.mark.parametrize(
    ("peer", "case", "most_share"),
    [
        ("hpcc-simulator", case_of("incast", "pfc+hpcc", "ci", ("degree=8", "topology.spines=1")), 0.05),
        ("htsim", standard_cases("htsim")[0], 0.08),
        ("htsim-uec", replace(standard_cases("htsim-uec")[0], seeds=1), 0.05),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_installed_simulator_agrees(peer: str, case: PeerCase, most_share: float, tmp_path: Path) -> None:
    """The mean FCTs differ by this share at most, as in docs/validation.md."""
    variable = PEERS[peer].VARIABLE
    if not os.environ.get(variable):
        pytest.skip(f"{variable} is not set ({PEERS[peer].NAME})")
    validation, _ = validate_with_peer(peer, [case], "incast", tmp_path, print)
    mean = validation.runs[0].groups[0].mean
    assert mean is not None
    assert abs(mean.share) < most_share
