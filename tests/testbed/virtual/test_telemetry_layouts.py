# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of both layouts of in-band telemetry in whole networks: packet sizes, and that HPCC converges alike."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.analysis.life.captured import sightings
from sfc_testbed.analysis.results.result import counted
from sfc_testbed.telemetry.captures.flow_packets import FlowOnWire, Kind
from sfc_testbed.telemetry.captures.pcapng import read_capture
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.plan.plan import RunPlan
from tests.testbed.incasts import assert_all_arrived, plan_incast, run_plan, trace

FULL_BYTES = 1058
"""A full data frame without telemetry."""


def _plan(scheme: str, layout: str) -> RunPlan:
    settings = ("receiver=h16", "message_bytes=500000", f"transport.int_layout={layout}")
    return plan_incast(scheme, *settings, captures=("h1", "h16"))


def _sizes(run: StoredRun, host: str) -> Counter[int]:
    frames = read_capture(run.folder / "pcaps" / f"{host}-eth0.pcapng")
    return Counter(len(captured.frame) - FULL_BYTES for captured in frames if len(captured.frame) > FULL_BYTES)


@pytest.mark.parametrize("scheme", ["irn+hpcc", "onramp+hpcc"])
def test_hpcc_converges_alike_in_both_layouts(tmp_path: Path, scheme: str) -> None:
    """The compact layout gives a packet the same length at both ends. OnRamp adds its time stamp of 16 bytes."""
    plans = [_plan(scheme, layout) for layout in ("growing", "compact")]
    growing, compact = (run_plan(plan, tmp_path) for plan in plans)
    stamp_bytes = 16 if scheme.startswith("onramp") else 0
    for run, sizes in ((growing, (4, 52)), (compact, (44, 44))):
        for host, telemetry_bytes in zip(("h1", "h16"), sizes, strict=True):
            [(size, count), *_] = _sizes(run, host).most_common()
            assert size == telemetry_bytes + stamp_bytes
            assert count >= 499
        assert_all_arrived(run.result)
    fct_us = [trace(run, "flows").select(pl.col("fct_us").mean()).item() for run in (growing, compact)]
    peaks = [counted(run.result.max_buffer_bytes) for run in (growing, compact)]
    assert fct_us[1] == pytest.approx(fct_us[0], rel=0.02)
    assert peaks[1] == pytest.approx(peaks[0], rel=0.03)
    assert _data_packets_of_h1(compact, plans[1]) == set(range(500))


def _data_packets_of_h1(run: StoredRun, plan: RunPlan) -> set[int]:
    """Return the numbers of the packets of h1's flow in its capture, as the verb `trace` finds them."""
    [flow] = [flow for flow in plan.flows if flow.src == "h1"]
    source, destination = (plan.topology.host[name].ip.packed for name in (flow.src, flow.dst))
    on_wire = FlowOnWire(source, destination, flow.source_qpn, flow.destination_qpn, first_psn=0, packets=500)
    seen = sightings(run.folder / "pcaps" / "h1-eth0.pcapng", on_wire)
    return {sighting.packet for sighting in seen if sighting.kind == Kind.DATA}
