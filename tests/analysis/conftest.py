# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Plausible synthetic runs for the analysis tests: traces from a seed, and complete run folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfc_testbed.analysis.results.build import build_result
from sfc_testbed.analysis.results.counters import Lateness, RunCounters, Spacing
from sfc_testbed.analysis.results.result import (
    BtsCounts,
    PacketCounts,
    PfcCounts,
    ResentCounts,
    RunResult,
    read_result,
    write_result,
)
from sfc_testbed.request.spec import CONFIG_FILE, P4Program, Physics, RunConfig
from sfc_testbed.telemetry.figures import SenderFigures
from sfc_testbed.telemetry.reader import conforming
from sfc_testbed.telemetry.schema import FLOWS, GOODPUT, QUEUES, SIGNALS, WHOLE_BUFFER, TraceSchema
from sfc_testbed.telemetry.writer import write_trace

FolderMaker = Callable[..., Path]


def make_flows(count: int = 2000, incast: int = 256, load: float = 1.0, unfinished: float = 0.01) -> pl.DataFrame:
    """Return background flows of Hadoop-like sizes and incast flows of 250 kB; a share of both does not finish."""
    random = np.random.default_rng(1)
    # Sizes, starts and tags do not depend on the load, as in runs of one flow file under several schemes.
    background = np.exp(random.uniform(np.log(60), np.log(2_000_000), count)).astype(np.int64)
    sizes = np.concatenate([background, np.full(incast, 250_000)])
    total = count + incast
    start = np.sort(random.uniform(0, 3500, total))
    tags = random.permutation(["hadoop"] * count + ["incast"] * incast)
    sizes = sizes[np.argsort(np.argsort(tags, kind="stable"), kind="stable")]
    ideal = 10 + sizes * 8 / 100_000
    delay = 1 + random.exponential(0.4 * load, total) * (1 + 6 * load * (tags == "incast"))
    finish = np.where(random.random(total) < unfinished, np.nan, start + ideal * delay)
    frame = pl.DataFrame(
        {
            "flow_id": np.arange(total),
            "src": [f"h{1 + number % 31}" for number in range(total)],
            "dst": ["h32" if tag == "incast" else f"h{1 + (number + 7) % 31}" for number, tag in enumerate(tags)],
            "tag": tags,
            "size_bytes": sizes,
            "start_us": start,
            "finish_us": finish,
            "fct_us": finish - start,
            "ideal_fct_us": ideal,
            "slowdown": (finish - start) / ideal,
            **{field.name: np.zeros(total) for field in fields(SenderFigures)},
            "packets_sent": sizes // 1000 + 1,
            "corrupted": np.zeros(total, dtype=bool),
        }
    )
    frame = frame.with_columns(pl.col("finish_us", "fct_us", "slowdown").fill_nan(None))
    return conforming(frame, FLOWS).cast(pl.Schema(FLOWS.dtypes))


def make_queues(peak_bytes: float = 3e6, duration_us: float = 4000) -> pl.DataFrame:
    """Return samples of three switches, every 10 us. The queue to h32 has nearly all of tor2's buffer and varies."""
    random = np.random.default_rng(1)
    times = np.arange(10.0, duration_us + 1, 10.0)
    wave = 0.6 + 0.4 * np.sin(times / 260) * np.exp(-times / 2500)
    hot = peak_bytes * (1 - np.exp(-times / 180)) * wave * random.uniform(0.96, 1.0, times.size)
    rows = []
    for switch, share in (("tor2", 1.0), ("tor1", 0.25), ("spine1", 0.12)):
        high = hot * share * random.uniform(0.9, 1.0, times.size)
        rows += [
            {"time_us": t, "switch": switch, "port": port, "class": cls, "depth_bytes": int(h * f * 0.9),
             "high_water_bytes": int(h * f)}
            for t, h in zip(times, high, strict=True)
            for port, cls, f in ((WHOLE_BUFFER, WHOLE_BUFFER, 1.0), (9, 3, 0.92))
        ]  # fmt: skip
    return pl.DataFrame(rows, schema=dict(QUEUES.dtypes))


def make_signals(count: int = 300) -> pl.DataFrame:
    random = np.random.default_rng(1)
    sent = np.sort(random.uniform(0, 3900, count))
    cached = random.random(count) < 0.3
    received = sent + np.where(cached, 1.2, 5.4) + random.exponential(0.3, count)
    pause = np.floor(random.uniform(5, 60, count))
    frame = pl.DataFrame(
        {
            "sent_us": sent,
            "received_us": received,
            "host": [f"h{1 + number % 31}" for number in range(count)],
            "flow_id": np.arange(count) % 100,
            "switch": np.where(cached, "tor1", "tor2"),
            "cause": np.where(cached, "cache", "queue"),
            "pause_us": pause,
            "queue_depth_bytes": (pause * 12_500 + 125_000).astype(np.int64),
            "cacheable": np.ones(count, dtype=bool),
            "obeyed": np.ones(count, dtype=bool),
            "paused_until_us": received + pause,
        }
    )
    return frame.select(SIGNALS.column_names).cast(pl.Schema(SIGNALS.dtypes))


def make_goodput(flows: pl.DataFrame) -> pl.DataFrame:
    """Distribute the bytes of each completed flow evenly over the intervals of 100 us in which it is active."""
    interval_us = 100.0
    rows = []
    for flow, size, start, finish in flows.select("flow_id", "size_bytes", "start_us", "finish_us").iter_rows():
        if finish is None:
            continue
        slots = range(int(start // interval_us), int(finish // interval_us) + 1)
        share, rest = divmod(size, len(slots))
        rows += [
            (slot * interval_us, (slot + 1) * interval_us, flow, share + (rest if slot == slots[0] else 0))
            for slot in slots
        ]
    return frame_of(GOODPUT, rows)


def frame_of(schema: TraceSchema, rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    """Return rows of a trace, whose values are in the order of its columns."""
    return pl.DataFrame(rows, schema=dict(schema.dtypes), orient="row")


def trace_of(schema: TraceSchema, rows: Sequence[dict[str, Any]], **usual: object) -> pl.DataFrame:
    """Return rows of a trace. Columns that are neither in a row nor in `usual` are null."""
    whole = [{**dict.fromkeys(schema.column_names), **usual, **row} for row in rows]
    return pl.DataFrame(whole, schema=dict(schema.dtypes))


CONFIG = RunConfig(
    scenario="hadoop-50",
    scheme="sfc",
    switch="soft",
    clock="real",
    dilation=10_000,
    scale="ci",
    seed=7,
    duration_ms=4.0,
    topology="clos",
    settings={"switch.q_th_bdp": 2},
    program=P4Program("switch-bmv2/artifacts/sfc.json", "0" * 64),
    dilation_given=False,
    topology_parameters={"tors": 2, "hosts_per_tor": 16, "rate_bps": 100_000_000_000},
    physics=Physics(
        base_rtt_ns=10_000,
        bottleneck_bps=100_000_000_000,
        bdp_bytes=125_000,
        nic_rates_bps={100_000_000_000: 32},
        window_bytes=None,
    ),
    workload={},
    switch_settings={},
    transport_settings={},
    thresholds_bytes={"Q_th": 250_000, "Q_tg": 125_000},
    command="",
    versions={"sfc-testbed": "1.0.0", "python": "3.11"},
)
COUNTERS = RunCounters(
    packets=PacketCounts(sent=400_000, received=400_470, switch_generated=510, switch_absorbed=0, in_flight=0),
    drops={"tail_drop": 38, "bloom_false": 2},
    kernel_drops=0,
    bts=BtsCounts(sent=510, suppressed=2210, cache_hits=153, max_suppression_entries=61, max_cache_entries=4),
    pfc=PfcCounts(sent=0),
    resent=ResentCounts(packets=0, timeout=0, trimmed=0, loss=0, reordering=0),
    host_lateness=Lateness(90_000, 2_400_000, 5_100_000),
    switch_lateness=Lateness(30_000, 700_000, 3_000_000),
    host_spacing=Spacing(count=300_000, p50_ns=20_000, p99_ns=1_100_000, max_ns=4_000_000, ideal_ns=850_000),
    wall_s=41.25,
)


@pytest.fixture
def make_run_folder(tmp_path: Path) -> FolderMaker:
    """Return a function that creates a complete run folder below the test's directory."""
    root = tmp_path / "runs"
    root.mkdir()

    def make(
        scheme: str = "sfc",
        *,
        load: float = 1.0,
        peak_bytes: float = 3e6,
        unfinished: float = 0.0,
        flows: pl.DataFrame | None = None,
        config: Mapping[str, Any] | None = None,
        counters: dict[str, object] | None = None,
    ) -> Path:
        folder = root / f"hadoop-50-{scheme}-{len(list(root.iterdir()))}"
        folder.mkdir()
        frames = {
            "flows": make_flows(load=load, unfinished=unfinished) if flows is None else flows,
            "queues": make_queues(peak_bytes),
            "signals": make_signals() if scheme.startswith("sfc") else SIGNALS.empty(),
        }
        for schema in (FLOWS, QUEUES, SIGNALS):
            write_trace(folder / schema.file_name, schema, frames[schema.name])
        write_trace(folder / GOODPUT.file_name, GOODPUT, make_goodput(frames["flows"]))
        command = f"./runner.py run hadoop-50 --scheme {scheme} --seed 7 --set 'q th=2 BDP'"
        run_config = replace(CONFIG, scheme=scheme, command=command, **(config or {}))
        counted = RunCounters(**{**COUNTERS.__dict__, **(counters or {})})
        write_result(folder, build_result(run_config, counted, **frames))
        (folder / CONFIG_FILE).write_text(run_config.to_json())
        return folder

    return make


@pytest.fixture
def results(make_run_folder: FolderMaker) -> list[RunResult]:
    """Return the results of irn and sfc with the same flows. SFC has the lower load and the smaller buffer."""
    folders = [make_run_folder("irn", load=2.0, peak_bytes=8e6), make_run_folder("sfc", load=0.5, peak_bytes=2e6)]
    return [read_result(folder) for folder in folders]
