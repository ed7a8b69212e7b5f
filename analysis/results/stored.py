# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A stored run: its result, its configuration and the readable traces.

An interrupted run may have missing or damaged traces. Each such file gives a sentence in `problems` and an empty
frame. A folder without result.json is not a run.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from analysis.results.result import MAX_FILE_BYTES, ResultError, RunResult, read_result
from telemetry.reader import TraceError, answer, scan_trace
from telemetry.schema import CONGESTION, FLOWS, GOODPUT, LATENESS, QUEUES, SIGNALS, TraceSchema
from wire.input.bounded_file import read_bounded_text

CONFIG_FILE = "config.json"


class StoredFault(BaseModel):
    """A fault in config.json, with its begin and end time."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    spec: str
    label: str
    begin_us: float
    end_us: float | None


@dataclass(frozen=True)
class Run:
    """The data of one run for a report. Traces whose size grows with the packets are lazy frames."""

    folder: Path
    result: RunResult
    config: Mapping[str, object]
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

    def without_traces(self) -> Run:
        """Return a copy of the run with empty traces."""
        queues, signals, goodput = (schema.empty().lazy() for schema in (QUEUES, SIGNALS, GOODPUT))
        flows, lateness = FLOWS.empty(), LATENESS.empty()
        return replace(self, flows=flows, queues=queues, signals=signals, goodput=goodput, lateness=lateness)

    @property
    def thresholds_bytes(self) -> dict[str, int]:
        """Thresholds in the queue plot: `thresholds_bytes` of config.json, such as {"Q_th": 250000, "Q_tg": 125000}."""
        found = self.config.get("thresholds_bytes")
        if not isinstance(found, Mapping):
            return {}
        return {str(name): int(value) for name, value in found.items() if isinstance(value, (int, float))}

    @property
    def faults(self) -> tuple[StoredFault, ...]:
        """The injected faults. Rows of config.json that are not valid faults are skipped."""
        rows = self.config.get("faults")
        found = []
        for row in rows if isinstance(rows, list) else ():
            with suppress(ValidationError):
                found.append(StoredFault.model_validate(row))
        return tuple(found)

    @property
    def dilation_was_given(self) -> bool:
        """Whether a person asked for the run's D; otherwise it was chosen for the run."""
        return self.config.get("dilation_given") is True

    @property
    def command(self) -> str:
        """The command that repeats the run: `command` of config.json, or one made from the result."""
        given = self.config.get("command")
        if isinstance(given, str):
            return given
        if isinstance(given, list):
            return shlex.join(str(word) for word in given)
        result = self.result
        options = {
            "scheme": result.scheme,
            "switch": result.switch,
            "clock": result.clock,
            "dilation": result.dilation,
            "scale": result.scale,
            "seed": result.seed,
        }
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return shlex.join(["./runner.py", "run", result.scenario, *words])


def load_run(folder: Path) -> Run:
    """Read a run folder. Raises ResultError if the result cannot be read or config.json is nested too deeply."""
    result = read_result(folder)
    problems: list[str] = []
    config = _read_config(folder, problems)
    if config and config.get("scenario") != result.scenario:
        problems.append(f"{CONFIG_FILE} is for another scenario than {result.scenario}.")
    flows, queues, signals, goodput = (_query(folder, schema, problems) for schema in (FLOWS, QUEUES, SIGNALS, GOODPUT))
    lateness, congestion = (
        _query(folder, schema, problems) if (folder / schema.file_name).exists() else schema.empty().lazy()
        for schema in (LATENESS, CONGESTION)
    )
    return Run(
        folder,
        result,
        config,
        flows=answer(flows),
        queues=queues,
        signals=signals,
        goodput=goodput,
        problems=tuple(problems),
        lateness=answer(lateness),
        congestion=congestion,
    )


def _read_config(folder: Path, problems: list[str]) -> Mapping[str, object]:
    try:
        content = json.loads(read_bounded_text(folder / CONFIG_FILE, MAX_FILE_BYTES))
    except RecursionError as error:
        raise ResultError(f"{folder / CONFIG_FILE}: nested too deeply to be read") from error
    except (OSError, ValueError) as error:
        problems.append(f"{CONFIG_FILE} cannot be read ({error.__class__.__name__}); the configuration is not shown.")
        return {}
    if not isinstance(content, dict) or not content:
        problems.append(f"{CONFIG_FILE} has no configuration.")
        return {}
    return content


def _query(folder: Path, schema: TraceSchema, problems: list[str]) -> pl.LazyFrame:
    try:
        return scan_trace(folder / schema.file_name, schema)
    except TraceError as error:
        reason = str(error).removeprefix(f"{folder / schema.file_name}: ")
        problems.append(f"{schema.file_name} cannot be read ({reason}); plots from it are empty.")
        return schema.empty().lazy()
