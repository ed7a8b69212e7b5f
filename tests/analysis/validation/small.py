# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A small run with one flow and two switches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from sfc_testbed.analysis.results.build import build_result
from sfc_testbed.analysis.results.counters import RunCounters
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.request.spec import RunConfig
from sfc_testbed.telemetry.figures import SenderFigures
from sfc_testbed.telemetry.schema import FLOWS, GOODPUT, QUEUES, SIGNALS, WHOLE_BUFFER
from tests.analysis.conftest import CONFIG, COUNTERS

SMALL_FLOWS: Sequence[dict[str, Any]] = (
    {
        "flow_id": 1, "src": "h1", "dst": "h2", "tag": "incast", "size_bytes": 1000, "start_us": 10.0,
        "finish_us": 30.0, "fct_us": 20.0, "ideal_fct_us": 10.0, "slowdown": 2.0,
        **asdict(SenderFigures(packets_sent=1, paused_us=3.5)), "corrupted": False,
    },
)  # fmt: skip


def _sample(time_us: float, switch: str, depth_bytes: int) -> dict[str, Any]:
    whole = {"port": WHOLE_BUFFER, "class": WHOLE_BUFFER}
    return {"time_us": time_us, "switch": switch, **whole, "depth_bytes": depth_bytes, "high_water_bytes": depth_bytes}


SMALL_QUEUES: Sequence[dict[str, Any]] = (
    _sample(5, "tor1", 9000),
    _sample(10, "tor1", 100),
    _sample(20, "tor1", 300),
    _sample(30, "tor1", 0),
    _sample(40, "tor1", 9000),
    _sample(10, "tor2", 0),
    _sample(20, "tor2", 40),
    _sample(30, "tor2", 0),
)


def small_run(
    flows: Sequence[dict[str, Any]] = SMALL_FLOWS,
    queues: Sequence[dict[str, Any]] = SMALL_QUEUES,
    counters: RunCounters = COUNTERS,
    config: RunConfig = CONFIG,
) -> Run:
    """Return a small run that has no folder."""
    flow_rows = pl.DataFrame(flows, schema=dict(FLOWS.dtypes))
    samples = pl.DataFrame(queues, schema=dict(QUEUES.dtypes))
    result = build_result(config, counters, flows=flow_rows, queues=samples, signals=SIGNALS.empty())
    signals, goodput = (schema.empty().lazy() for schema in (SIGNALS, GOODPUT))
    return Run(Path("run"), result, config, flow_rows, samples.lazy(), signals, goodput, problems=())
