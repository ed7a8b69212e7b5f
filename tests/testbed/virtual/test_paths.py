# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The paths of flows over ECMP groups: the scheme must not change them, and the seed must."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sfc_testbed.request.schemes import RATE_CONTROLS, SCHEMES
from sfc_testbed.telemetry.captures.pcapng import Direction, read_capture
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.targets.common.commands import switch_commands
from sfc_testbed.wire.constants import INT_UDP_PORT, ROCE_UDP_PORT
from tests.testbed.incasts import plan_virtual, run_plan, write_flows

SPINES = 8
NETWORK = (f"topology.spines={SPINES}", "topology.hosts_per_tor=8")
UPLINKS = tuple(f"{tor}:spine{spine + 1}" for tor in ("tor1", "tor2") for spine in range(SPINES))
_ALL = (*SCHEMES, *(f"irn+{name}" for name in RATE_CONTROLS))

Paths = Mapping[tuple[bytes, bytes, bytes], set[str]]
"""The uplinks of packets by source address, destination address and UDP source port: data and ACKs of each flow."""


@pytest.fixture(scope="module")
def flow_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight flows between the racks, one per host."""
    rows = [f"h{number},h{number + 8},20000,0,data" for number in range(1, 9)]
    return write_flows(tmp_path_factory.mktemp("flows") / "eight.csv", *rows)


def _plan(flow_file: Path, scheme: str, seed: int = 1) -> RunPlan:
    return plan_virtual("flows", scheme, *NETWORK, seed=seed, topology="clos", flow_file=flow_file, captures=UPLINKS)


def _paths(flow_file: Path, scheme: str, folder: Path, seed: int = 1) -> Paths:
    run = run_plan(_plan(flow_file, scheme, seed), folder / f"{scheme}-{seed}").folder
    found = defaultdict(set)
    for path in (run / "pcaps").iterdir():
        for record in read_capture(path):
            frame = record.frame
            port = int.from_bytes(frame[36:38], "big")
            if record.direction is Direction.OUT and port in (ROCE_UDP_PORT, INT_UDP_PORT):
                found[frame[26:30], frame[30:34], frame[34:36]].add(path.stem)
    return found


@pytest.fixture(scope="module")
def irn_paths(flow_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Paths:
    return _paths(flow_file, "irn", tmp_path_factory.mktemp("irn"))


@pytest.mark.parametrize("scheme", _ALL)
def test_a_flow_takes_the_same_path_under_every_scheme(
    scheme: str, flow_file: Path, irn_paths: Paths, tmp_path: Path
) -> None:
    assert len(irn_paths) == 16
    assert all(len(uplinks) == 1 for uplinks in irn_paths.values())
    paths = _paths(flow_file, scheme, tmp_path)
    if _plan(flow_file, scheme).switch_settings.changes_paths:
        assert max(map(len, paths.values())) > SPINES // 2
    else:
        assert paths == irn_paths


def test_the_seed_changes_paths(flow_file: Path, irn_paths: Paths, tmp_path: Path) -> None:
    other = _paths(flow_file, "irn", tmp_path, seed=2)
    assert other.keys() == irn_paths.keys()
    assert sum(other[flow] != irn_paths[flow] for flow in other) > len(other) // 2


def test_the_seed_also_decides_the_paths_of_live_runs(flow_file: Path) -> None:
    live = (plan_run(replace(_plan(flow_file, "irn", seed).spec, clock="real")) for seed in (1, 2))
    salts = [
        [line.split()[4] for line in switch_commands(plan, "tor1") if "identity" in line]
        for plan in (_plan(flow_file, "irn"), *live)
    ]
    assert len(salts[0]) == 1
    assert salts[0] == salts[1] != salts[2]
