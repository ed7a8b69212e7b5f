# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The journal of a run: the files in which an active run keeps its measurements, and the traces made from them.

    journal/journal.json    order of the switches, dilation, model time 0, whether hosts have reported everything
    journal/planned/        the planned flows; folders beside it hold segments with the reports of senders and
                            receivers, signals, goodput and the hosts' lateness
    logs/SWITCH.samples     samples of a switch's queues and links
    logs/SWITCH.lateness    lateness over time of a switch that measures it

The end of a run and `report` of a killed run use the same code to make the traces. The process that writes the journal
holds a lock on its folder until the process ends, however that happens.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sfc_testbed.telemetry.atomic_file import check_no_link, replace_text
from sfc_testbed.telemetry.flow_parts import PLANNED, RECEIVED, SENT, flow_rows
from sfc_testbed.telemetry.late_bins import late_bins_file, switch_rows
from sfc_testbed.telemetry.planned import planned_paths, read_planned
from sfc_testbed.telemetry.queue_samples import link_rows, queue_rows, sample_chunks, samples_file
from sfc_testbed.telemetry.schema import CONGESTION, FLOWS, GOODPUT, LATENESS, LINKS, QUEUES, SIGNALS, TraceSchema
from sfc_testbed.telemetry.segments import (
    join_segments,
    read_segments,
    readable_files,
    readable_segments,
    scan_segments,
    write_parts,
)
from sfc_testbed.telemetry.writer import write_trace

JOURNAL_FOLDER = "journal"
HEAD_FILE = "journal.json"
_LOGS = "logs"


class JournalError(Exception):
    """Another process uses the journal."""


class Head(BaseModel):
    """The content of journal.json."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    schema_name: Literal["sfc-testbed/journal/1"] = "sfc-testbed/journal/1"
    switches: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")], ...] = ()
    dilation_factor: int = Field(default=1, ge=1)
    start_ns: int | None = None
    """Model time 0 on the clock of the queue samples. None until the start of the run is announced."""
    all_told: bool = False
    """Whether senders have reported their unfinished flows as well."""


class Journal:
    """The journal of one run folder, locked for this process until `release` or the end of the process."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self._lock: int | None = lock
        self.head = Head()

    def segments(self, schema: TraceSchema) -> Path:
        """Return the folder of a trace's segments."""
        return self.folder / JOURNAL_FOLDER / schema.name

    def samples(self, switch: str) -> Path:
        """Return the path of a switch's queue samples."""
        return self.folder / _LOGS / samples_file(switch)

    def late_bins(self, switch: str) -> Path:
        """Return the path of a switch's lateness over time."""
        return self.folder / _LOGS / late_bins_file(switch)

    def note(self, **changes: object) -> None:
        """Change fields of the head and write it to disk."""
        self.head = self.head.model_copy(update=changes)
        replace_text(self.folder / JOURNAL_FOLDER / HEAD_FILE, self.head.model_dump_json(indent=1) + "\n")

    def write_traces(self) -> list[str]:
        """Write all traces from the journal, which stays. Return a sentence for each part that cannot be read."""
        problems = self._write_flows() + self._write_samples() + self._write_lateness()
        optional = (CONGESTION,) if self.segments(CONGESTION).is_dir() else ()
        for schema in (SIGNALS, GOODPUT, *optional):
            problems += join_segments(self.segments(schema), schema, self.folder / schema.file_name)
        return problems

    def remove(self) -> None:
        """Delete the files of the journal. Call this only after the traces are complete."""
        for switch in self.head.switches:
            self.samples(switch).unlink(missing_ok=True)
            self.late_bins(switch).unlink(missing_ok=True)
        shutil.rmtree(self.folder / JOURNAL_FOLDER)

    def release(self) -> None:
        """Unlock the journal for other processes."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _write_flows(self) -> list[str]:
        """Write the flows trace in parts as large as the files of the plan."""
        found = {
            PLANNED: readable_files(planned_paths(self.segments(PLANNED)), read_planned, PLANNED),
            **{schema: readable_segments(self.segments(schema), schema) for schema in (SENT, RECEIVED)},
        }

        def parts() -> Iterator[pl.DataFrame]:
            for path in found[PLANNED][0]:
                planned = read_planned(path)
                is_in_part = pl.col("flow_id").is_between(planned["flow_id"].min(), planned["flow_id"].max())
                sent, received = (
                    scan_segments(found[schema][0], schema).filter(is_in_part).collect() for schema in (SENT, RECEIVED)
                )
                yield flow_rows(planned, sent, received, all_reported=self.head.all_told)

        write_parts(parts(), FLOWS, self.folder / FLOWS.file_name)
        return [problem for _, problems in found.values() for problem in problems]

    def _write_samples(self) -> list[str]:
        """Write the traces of queues and links switch by switch."""
        problems: dict[str, None] = {}

        def parts(rows: Callable[..., pl.DataFrame]) -> Iterator[pl.DataFrame]:
            for switch in () if self.head.start_ns is None else self.head.switches:
                try:
                    for samples in sample_chunks(self.samples(switch)):
                        yield rows(samples, switch=switch, **self._clock())
                except (OSError, ValueError) as error:
                    problems[f"Queue samples of {switch} are lost: {error}."] = None

        for schema, rows in ((QUEUES, queue_rows), (LINKS, link_rows)):
            write_parts(parts(rows), schema, self.folder / schema.file_name)
        return list(problems)

    def _write_lateness(self) -> list[str]:
        """Write the lateness trace. It has one row per node and interval of a live run, so all rows fit into memory."""
        hosts, problems = read_segments(self.segments(LATENESS), LATENESS)
        rows = [hosts]
        for switch in () if self.head.start_ns is None else self.head.switches:
            try:
                rows.append(switch_rows(self.late_bins(switch), switch=switch, **self._clock()))
            except (OSError, ValueError) as error:
                problems.append(f"Lateness of {switch} over time is lost: {error}.")
        write_trace(self.folder / LATENESS.file_name, LATENESS, pl.concat(rows).sort("time_us", "part", "node"))
        return problems

    def _clock(self) -> dict[str, int]:
        return {"start_ns": self.head.start_ns or 0, "dilation_factor": self.head.dilation_factor}


def new_journal(folder: Path, switches: Sequence[str], dilation_factor: int) -> Journal:
    """Create the journal of a new run."""
    (folder / _LOGS).mkdir(exist_ok=True)
    (folder / JOURNAL_FOLDER).mkdir()
    journal = Journal(folder, _lock_folder(folder))
    journal.note(switches=tuple(switches), dilation_factor=dilation_factor)
    return journal


def has_journal(folder: Path) -> bool:
    """Whether the folder's run is still active, or ended before it saved its traces and result."""
    return (folder / JOURNAL_FOLDER).is_dir()


def open_journal(folder: Path) -> tuple[Journal, list[str]]:
    """Return the journal that a process left when it ended, and a sentence for each part that cannot be read.

    Raise JournalError if the process is still alive, and LinkRefused if a folder in which `remove` deletes files is a
    symbolic link.
    """
    check_no_link(folder / JOURNAL_FOLDER, folder / _LOGS)
    journal = Journal(folder, _lock_folder(folder))
    path = folder / JOURNAL_FOLDER / HEAD_FILE
    try:
        journal.head = Head.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        pass  # the process ended before anything was measured
    except ValidationError as error:
        return journal, [f"No queue sample can be read: {path} is damaged ({error.errors()[0]['msg']})."]
    return journal, []


def _lock_folder(folder: Path) -> int:
    descriptor = os.open(folder / JOURNAL_FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise JournalError(f"{folder}: the run is still active or being reported; wait for its end") from error
    return descriptor
