# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run's flows, sizes and completion times as the HPCC simulator's files, for the tools that people have for them."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from analysis.results.stored import load_run
from scenarios.files.hpcc_files import FinishedFlow, format_hpcc_fct, format_hpcc_flows
from scenarios.model.waiting import any_waits
from scenarios.traffic.sizes import format_hpcc_cdf, load_sizes
from telemetry.atomic_file import replace_text
from telemetry.reader import TraceError, read_trace
from telemetry.schema import FLOWS
from testbed.errors import UsageError
from testbed.execution.stored_flows import stored_flows

FLOW_FILE, FCT_FILE, CDF_FILE = "flow.txt", "fct.txt", "cdf.txt"
_COLUMNS = ("src", "dst", "tag", "size_bytes", "start_us", "fct_us", "ideal_fct_us")


def export_hpcc(folder: Path, out: Path) -> list[Path]:
    """Writes flow.txt, fct.txt and, where the run drew sizes from a distribution, cdf.txt; gives their paths.

    UsageError, before anything is written, for a folder whose configuration, flow list or flow trace cannot be read or
    whose trace has not all flows; ResultError for one without a result.
    """
    run = load_run(folder)
    try:
        flows = read_trace(folder / FLOWS.file_name, FLOWS)
        topology, listed = stored_flows(folder, run.config)
    except (UsageError, TraceError) as error:
        raise UsageError(f"{folder}: cannot be exported: {error}") from error
    if any_waits(listed.requests):
        raise UsageError(f"{folder}: cannot be exported: that simulator knows no flows that wait for others")
    if flows.height != len(listed.requests):
        raise UsageError(
            f"{folder}: cannot be exported: {FLOWS.file_name} has {flows.height} of {len(listed.requests)} flows"
        )
    done = flows.filter(pl.col("fct_us").is_not_null()).select(_COLUMNS)
    addresses = {name: host.ip for name, host in topology.host.items()}
    texts = {
        FLOW_FILE: format_hpcc_flows(listed.requests),
        FCT_FILE: format_hpcc_fct((FinishedFlow(**row) for row in done.iter_rows(named=True)), addresses),
    }
    workload = run.config.get("workload")
    if isinstance(workload, dict) and "sizes" in workload:
        texts[CDF_FILE] = format_hpcc_cdf(load_sizes(workload["sizes"]))
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        replace_text(out / name, text)
    return [out / name for name in texts]
