# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A stored run: its result, its configuration and the readable traces.

An interrupted run may have missing or damaged traces. Each such file gives a sentence in `problems` and an empty
frame. A folder without result.json is not a run.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from sfc_testbed.analysis.metrics.links import EqualCostPorts
from sfc_testbed.analysis.results.result import MAX_FILE_BYTES, ResultError, RunResult, read_result
from sfc_testbed.place import command_name, typed_here
from sfc_testbed.request.bounded_file import read_bounded_text
from sfc_testbed.request.checks import refusal
from sfc_testbed.request.spec import CONFIG_FILE, FaultSpan, RunConfig, config_of
from sfc_testbed.telemetry.reader import TraceError, answer, scan_trace
from sfc_testbed.telemetry.schema import CONGESTION, FLOWS, GOODPUT, LATENESS, LINKS, QUEUES, SIGNALS, TraceSchema
from sfc_testbed.topologies.model import Topology, TopologyError


@dataclass(frozen=True)
class Run:
    """The data of one run for a report. Traces whose size grows with the packets are lazy frames."""

    folder: Path
    result: RunResult
    config: RunConfig | None
    """The content of config.json, or None if it could not be read."""
    flows: pl.DataFrame
    queues: pl.LazyFrame
    signals: pl.LazyFrame
    goodput: pl.LazyFrame
    problems: tuple[str, ...]
    """Sentences about files that could not be read."""
    lateness: pl.DataFrame = field(default_factory=LATENESS.empty)
    """Lateness over time of a live run; empty for runs of older releases."""
    congestion: pl.LazyFrame = field(default_factory=lambda: CONGESTION.empty().lazy())
    """Congestion control trace; empty unless it was requested."""

    links: pl.LazyFrame = field(default_factory=lambda: LINKS.empty().lazy())
    """Bytes of links over time; empty for runs of older releases."""
    all_flows: pl.LazyFrame = field(default_factory=lambda: FLOWS.empty().lazy())
    """The flows with all their columns."""

    def without_traces(self) -> Run:
        """Return a copy of the run with empty traces."""
        queues, signals, goodput, links = (schema.empty().lazy() for schema in (QUEUES, SIGNALS, GOODPUT, LINKS))
        return replace(
            self,
            flows=FLOWS.empty(),
            queues=queues,
            signals=signals,
            goodput=goodput,
            lateness=LATENESS.empty(),
            links=links,
            all_flows=FLOWS.empty().lazy(),
        )

    @property
    def thresholds_bytes(self) -> dict[str, int]:
        """Thresholds in the queue plot, such as {"Q_th": 250000, "Q_tg": 125000}."""
        return {} if self.config is None else self.config.thresholds_bytes

    @property
    def equal_cost_ports(self) -> EqualCostPorts:
        """The groups of ports over which each switch spreads packets to the same destination."""
        return {} if self.config is None else self.config.equal_cost_ports

    @cached_property
    def topology(self) -> Topology | None:
        """The network, or None if it is unknown, for instance because an extension that is not loaded defines it."""
        from sfc_testbed.topologies.files.stored import topology_of

        try:
            return topology_of(self.config)
        except TopologyError:
            return None

    @property
    def fault_spans(self) -> tuple[FaultSpan, ...]:
        """The injected faults."""
        return () if self.config is None else self.config.fault_spans

    @property
    def command(self) -> str:
        """The command that repeats the run; without config.json, one made from the result."""
        if self.config is not None:
            return typed_here(self.config.command)
        result = self.result
        names = ("scheme", "switch", "clock", "dilation", "scale", "seed")
        options = [word for name in names for word in (f"--{name}", str(getattr(result, name)))]
        return shlex.join([command_name(), "run", result.scenario, *options])


def load_run(folder: Path, flow_columns: Sequence[str] = FLOWS.column_names) -> Run:
    """Read a run folder, with these columns of its flows.

    Raises ResultError if the result cannot be read or config.json is nested too deeply.
    """
    result = read_result(folder)
    problems: list[str] = []
    config = None
    try:
        config = read_config(folder)
    except ResultError as error:
        if isinstance(error.__cause__, RecursionError):
            raise
        reason = str(error).removeprefix(f"{folder / CONFIG_FILE}: ")
        problems.append(f"{CONFIG_FILE} cannot be read ({reason}); the configuration is not shown.")
    if config is not None and config.scenario != result.scenario:
        problems.append(f"{CONFIG_FILE} belongs to a run of {config.scenario}, not of {result.scenario}.")
    flows, queues, signals, goodput = (_query(folder, schema, problems) for schema in (FLOWS, QUEUES, SIGNALS, GOODPUT))
    lateness, congestion, links = (
        _query(folder, schema, problems) if (folder / schema.file_name).exists() else schema.empty().lazy()
        for schema in (LATENESS, CONGESTION, LINKS)
    )
    return Run(
        folder,
        result,
        config,
        flows=answer(flows.select(flow_columns)),
        queues=queues,
        signals=signals,
        goodput=goodput,
        problems=tuple(problems),
        lateness=answer(lateness),
        congestion=congestion,
        links=links,
        all_flows=flows,
    )


def known_config(folder: Path) -> RunConfig | None:
    """Return the configuration of a run, or None if it cannot be read."""
    try:
        return read_config(folder)
    except ResultError:
        return None


def read_config(folder: Path) -> RunConfig:
    """Return the configuration of a run. Raise ResultError, with the file and the reason, if it cannot be read."""
    path = folder / CONFIG_FILE
    try:
        return config_of(read_bounded_text(path, MAX_FILE_BYTES))
    except ValidationError as error:
        raise ResultError(f"{path}: not a run's configuration ({refusal(error)})") from error
    except RecursionError as error:
        raise ResultError(f"{path}: nested too deeply to be read") from error
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ResultError(f"{path}: {error}") from error


def _query(folder: Path, schema: TraceSchema, problems: list[str]) -> pl.LazyFrame:
    try:
        return scan_trace(folder / schema.file_name, schema)
    except TraceError as error:
        reason = str(error).removeprefix(f"{folder / schema.file_name}: ")
        problems.append(f"{schema.file_name} cannot be read ({reason}); plots from it are empty.")
        return schema.empty().lazy()
