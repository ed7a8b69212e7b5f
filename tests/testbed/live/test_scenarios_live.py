# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Every scenario on live Mininet at a size that takes seconds: all flows arrive, and no packet is lost.

Lateness is not checked, because other tests may run in parallel.
"""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.request.load_balancing import LOAD_BALANCINGS
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.testbed.targets.bmv2.installation import missing_bmv2
from tests.testbed import running

pytestmark = running.NEEDS_MININET
DILATION = 10_000

_DATA_CENTRE = (
    "topology.hosts_per_tor=4", "topology.spines=2", "incast_degree=7", "incast_bytes=40000", "incast_window_us=5",
    "arrivals_us=150", "warmup_us=20", "cooldown_us=20",
)  # fmt: skip
_SMALL: dict[str, tuple[str, tuple[str, ...]]] = {
    "incast": ("sfc", ("degree=4", "message_bytes=100000")),
    "bystanders": ("sfc", ("topology.hosts_per_tor=8", "degree=6", "message_bytes=40000")),
    "datacentre": ("sfc+hpcc", _DATA_CENTRE[:-2]),
    "allreduce": ("sfc", ("ranks=4", "vector_bytes=80000", "chunks=2", "add_us=1", "degree=3", "message_bytes=40000")),
    "collective": ("sfc", ("collective=all-to-all", "ranks=4", "bytes=80000", "iterations=2")),
    "trace": ("sfc", ()),
    "signaling": ("onramp", ("degree=20", "message_bytes=50000", "topology.left_hosts=20")),
    "incast-degree": ("irn+hpcc", _DATA_CENTRE),
    "testbed-incast": ("sfc", ("message_bytes=1000",)),
    "testbed-hol": ("pfc", ("arrivals_us=60", "incast_bytes=1000", "flows_per_sender=4")),
    "hadoop-50": ("sfc+hpcc", _DATA_CENTRE),
    "rpc-30": ("onramp+hpcc", (*_DATA_CENTRE, "arrivals_us=60", "load=0.1")),
    "websearch-50": ("sfc+hpcc", (*_DATA_CENTRE, "load=0.2")),
    "hadoop-80": ("irn+hpcc", _DATA_CENTRE),
    "hadoop-50-light": ("gbn+hpcc", _DATA_CENTRE),
    "parameters": ("sfc+dcqcn", _DATA_CENTRE),
    "long-rtt": ("sfc-p+hpcc", _DATA_CENTRE),
    "synchronization": ("egress-bts", ("degree=6", "message_bytes=60000", "topology.hosts_per_tor=4")),
    "resources": ("sfc-est", _DATA_CENTRE),
    "fairness": ("sfc+dcqcn", ("groups=2", "senders_per_group=2", "topology.left_hosts=4", "step_us=40")),
    "theory": ("ingress-bts+none", ("message_bytes=200000",)),
    "ndp": ("ndp", _DATA_CENTRE),
    "rivals": ("irn+dctcp", _DATA_CENTRE),
    "ai-fabric": ("irn", ("topology.tors=2", "topology.hosts_per_tor=2", "jobs=1", "ranks=4", "bytes=80000")),
}
_ON_BMV2 = (
    ("signaling", "onramp"),
    ("testbed-hol", "sfc-p"),
    ("hadoop-50", "sfc+hpcc"),
    ("theory", "ingress-bts+none"),
)
"""Scenarios on BMv2, chosen for their different networks and packets."""
_BMV2_DILATION = 100_000
_DURATION_MS = 6.0
"""Equals a minute of wall time at DILATION, far more than any of these scenarios needs."""


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_runs_live(scenario: str, tmp_path: Path) -> None:
    scheme, settings = _SMALL[scenario]
    _check_run(tmp_path, scenario, scheme, settings)


@pytest.mark.skipif(missing_bmv2() is not None, reason=f"no BMv2: {missing_bmv2()}")
@pytest.mark.parametrize(("scenario", "scheme"), _ON_BMV2)
def test_a_scenario_runs_on_bmv2(scenario: str, scheme: str, tmp_path: Path) -> None:
    """A dumbbell, the paper's testbed, jumbo frames with telemetry, and a star complete without loss on BMv2."""
    _, settings = _SMALL[scenario]
    _check_run(tmp_path, scenario, scheme, settings, switch="bmv2", dilation=_BMV2_DILATION)


@pytest.mark.skipif(missing_bmv2() is not None, reason=f"no BMv2: {missing_bmv2()}")
@pytest.mark.parametrize("name", LOAD_BALANCINGS)
def test_a_load_balancing_runs_on_bmv2(name: str, tmp_path: Path) -> None:
    """An all-to-all completes without loss over four spines with every load balancing."""
    settings = ("collective=all-to-all", "ranks=4", "bytes=80000", "topology.spines=4")
    dilation = 20_000 if name == "conga" else _BMV2_DILATION
    words = ("--load-balancing", name)
    _check_run(tmp_path, "collective", "irn", settings, *words, switch="bmv2", dilation=dilation)


@pytest.mark.parametrize("scheme", ["gbn", "pfc", "irn+none", "onramp-straw-man+hpcc", "sfc+dcqcn-no-window"])
def test_a_scheme_runs_live_with_the_largest_payload(scheme: str, tmp_path: Path) -> None:
    unlimited_buffer = () if scheme == "pfc" else ("switch.buffer_bytes=null",)
    settings = ("degree=6", "message_bytes=150000", "transport.payload_bytes=9216")
    _check_run(tmp_path, "incast", scheme, (*settings, *unlimited_buffer))


def _check_run(
    folder: Path,
    scenario: str,
    scheme: str,
    settings: tuple[str, ...],
    *options: str,
    switch: str = "soft",
    dilation: int = DILATION,
) -> None:
    duration_ms = _DURATION_MS * DILATION / dilation
    words = ["--scheme", scheme, "--switch", switch, "--dilation", str(dilation), "--duration", str(duration_ms)]
    values = dict(setting.split("=", 1) for setting in settings)
    words += [word for name, value in values.items() for word in ("--set", f"{name}={value}")]
    result = running.result_of(scenario, *words, *options, "--clock", "real", "--out", str(folder))
    verdict = f"{result['verdict']}: {result['verdict_reasons']}"
    flows = result["flows"]
    assert flows["total"] > 1
    assert (flows["completed"], flows["corrupted"]) == (flows["total"], 0), verdict
    assert result["unexplained_loss"] == 0, verdict
    [run] = folder.iterdir()
    sizes, goodput = (pl.read_parquet(run / f"{name}.parquet") for name in ("flows", "goodput"))
    assert goodput["delivered_bytes"].sum() == sizes["size_bytes"].sum()
    interval_us = json.loads((run / "config.json").read_text())["transport_settings"]["goodput_interval_ns"] / 1000
    places = goodput["from_us"] / interval_us
    assert places.min() >= 0
    assert (places - places.round()).abs().max() < 1e-6
