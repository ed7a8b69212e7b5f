# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Exports a run's flows, sizes and completion times as files of the HPCC simulator, for that simulator's tools."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.request.spec import RunConfig
from sfc_testbed.scenarios.model.waiting import any_waits
from sfc_testbed.scenarios.traffic.cdf_files import format_hpcc_cdf
from sfc_testbed.scenarios.traffic.distribution import SizeError
from sfc_testbed.scenarios.traffic.hpcc_files import FinishedFlow, format_hpcc_fct, format_hpcc_flows
from sfc_testbed.scenarios.traffic.sizes import load_sizes
from sfc_testbed.telemetry.atomic_file import check_no_link, replace_text
from sfc_testbed.telemetry.reader import TraceError, read_trace
from sfc_testbed.telemetry.schema import FLOWS
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.stored_flows import stored_flows

DEFAULT_FOLDER = "hpcc"
FLOW_FILE, FCT_FILE, CDF_FILE = "flow.txt", "fct.txt", "cdf.txt"
_COLUMNS = ("src", "dst", "tag", "number", "size_bytes", "start_us", "fct_us", "ideal_fct_us")


def export_hpcc(folder: Path, chosen: Path | None = None) -> list[Path]:
    """Write flow.txt, fct.txt and, if the run drew sizes from a distribution, cdf.txt; return their paths.

    The files go to the folder `chosen`, or to `hpcc` in the run folder unless `hpcc` is a link (LinkRefused).

    Raises UsageError, before anything is written, if the configuration, flow list or flow trace cannot be read, if the
    trace lacks flows, or if the distribution is missing. Raises ResultError for a folder without a result.
    """
    run = load_run(folder)
    try:
        flows = read_trace(folder / FLOWS.file_name, FLOWS)
        topology, listed = stored_flows(folder, run.config)
    except (UsageError, TraceError) as error:
        raise UsageError(f"{folder}: cannot be exported: {error}") from error
    if any_waits(listed.requests):
        raise UsageError(f"{folder}: cannot be exported: the HPCC simulator has no flows that wait for others")
    unnumbered = [host.name for host in topology.hosts if not re.fullmatch("h[1-9][0-9]*", host.name)]
    if unnumbered:
        raise UsageError(
            f"{folder}: cannot be exported: the HPCC simulator numbers its hosts, and {unnumbered[0]} is not hN"
        )
    if flows.height != len(listed.requests):
        raise UsageError(
            f"{folder}: cannot be exported: {FLOWS.file_name} has {flows.height} of {len(listed.requests)} flows"
        )
    numbered = flows.sort("start_us", maintain_order=True).with_columns(
        number=pl.int_range(pl.len()).over("src", "dst")
    )
    done = numbered.filter(pl.col("fct_us").is_not_null()).select(_COLUMNS)
    addresses = {name: host.ip for name, host in topology.host.items()}
    texts = {
        FLOW_FILE: format_hpcc_flows(listed.requests),
        FCT_FILE: format_hpcc_fct((FinishedFlow(**row) for row in done.iter_rows(named=True)), addresses),
    }
    sizes = _drawn_from(run.config)
    if sizes is not None:
        try:
            texts[CDF_FILE] = format_hpcc_cdf(load_sizes(sizes))
        except SizeError as error:
            raise UsageError(f"{folder}: cannot be exported: {error}") from error
    out = chosen or folder / DEFAULT_FOLDER
    if chosen is None:
        check_no_link(out)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        replace_text(out / name, text)
    return [out / name for name in texts]


def _drawn_from(config: RunConfig | None) -> str | None:
    """Return the name of the run's size distribution; None if its workload has none or its flows came from a list."""
    if config is None or config.flow_file is not None:
        return None
    sizes = config.workload.get("sizes")
    return sizes if isinstance(sizes, str) else None
