# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The journal of a run: what its folder holds while it goes on, and how the traces are made of it.

    journal/journal.json    switches in their order, dilation, model time 0, whether hosts have told all
    journal/planned/        the flows of the plan; beside it, in segments too, what senders and receivers told,
                            signals, goodput and the hosts' lateness
    logs/SWITCH.samples     queue samples as each switch made them
    logs/SWITCH.lateness    its lateness over time, of switches that measure it

A normal end and `report` of a run that was killed go the same way from here to the traces. A lock on the folder is
held as long as the process that writes it lives, however it ends. Knows no clock, no host and no switch.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from telemetry.atomic_file import check_no_link, replace_text
from telemetry.flow_parts import PLANNED, RECEIVED, SENT, flow_rows
from telemetry.late_bins import late_bins_file, switch_rows
from telemetry.queue_samples import Samples, queue_rows, sample_chunks, samples_file
from telemetry.schema import CONGESTION, FLOWS, GOODPUT, LATENESS, QUEUES, SIGNALS, TraceSchema
from telemetry.segments import join_segments, read_segments
from telemetry.writer import TraceWriter, write_trace

JOURNAL_FOLDER = "journal"
HEAD_FILE = "journal.json"
_LOGS = "logs"


class JournalError(Exception):
    """A journal is in use."""


class Head(BaseModel):
    """journal.json."""

    model_config = ConfigDict(frozen=True)

    schema_name: Literal["sfc-testbed/journal/1"] = "sfc-testbed/journal/1"
    switches: tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")], ...] = ()
    dilation_factor: int = Field(default=1, ge=1)
    start_ns: int | None = None
    """Model time 0 on the clock of the queue samples; None: it had not been announced."""
    all_told: bool = False
    """Senders have told of their unfinished flows too."""


class Journal:
    """The journal of one run folder. Whoever has one has it alone, until `release` or the end of the process."""

    def __init__(self, folder: Path, lock: int) -> None:
        self.folder = folder
        self._lock: int | None = lock
        self.head = Head()

    def segments(self, schema: TraceSchema) -> Path:
        """Folder of a trace's segments."""
        return self.folder / JOURNAL_FOLDER / schema.name

    def samples(self, switch: str) -> Path:
        """The file of a switch's queue samples."""
        return self.folder / _LOGS / samples_file(switch)

    def late_bins(self, switch: str) -> Path:
        """The file of a switch's lateness over time."""
        return self.folder / _LOGS / late_bins_file(switch)

    def note(self, **changes: object) -> None:
        """Changes fields of the head, on disk as well."""
        self.head = self.head.model_copy(update=changes)
        replace_text(self.folder / JOURNAL_FOLDER / HEAD_FILE, self.head.model_dump_json(indent=1) + "\n")

    def write_traces(self) -> list[str]:
        """Makes all traces of what the journal holds, which stays; gives a sentence for all that cannot be read."""
        problems = self._write_flows() + self._write_queues() + self._write_lateness()
        asked = (CONGESTION,) if self.segments(CONGESTION).is_dir() else ()
        for schema in (SIGNALS, GOODPUT, *asked):
            problems += join_segments(self.segments(schema), schema, self.folder / schema.file_name)
        return problems

    def remove(self) -> None:
        """Once the traces have it all."""
        for switch in self.head.switches:
            self.samples(switch).unlink(missing_ok=True)
            self.late_bins(switch).unlink(missing_ok=True)
        shutil.rmtree(self.folder / JOURNAL_FOLDER)

    def release(self) -> None:
        """Lets others have the journal."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _write_flows(self) -> list[str]:
        parts = {schema: read_segments(self.segments(schema), schema) for schema in (PLANNED, SENT, RECEIVED)}
        planned, sent, received = (frame for frame, _ in parts.values())
        rows = flow_rows(planned, sent, received, all_told=self.head.all_told)
        write_trace(self.folder / FLOWS.file_name, FLOWS, rows)
        return [problem for _, problems in parts.values() for problem in problems]

    def _write_queues(self) -> list[str]:
        """Switch by switch, in segments that a killed process may leave behind."""
        problems = []
        with tempfile.TemporaryDirectory(dir=self.folder / JOURNAL_FOLDER) as segments:
            writer = TraceWriter(self.folder / QUEUES.file_name, QUEUES, Path(segments))
            for switch in () if self.head.start_ns is None else self.head.switches:
                try:
                    for samples in sample_chunks(self.samples(switch)):
                        writer.append_frame(self._queue_rows(switch, samples))
                except (OSError, ValueError) as error:
                    problems.append(f"Queue samples of {switch} are lost: {error}.")
            return problems + writer.close()

    def _write_lateness(self) -> list[str]:
        """A row for each part and interval of a live run: few enough to hold them all."""
        hosts, problems = read_segments(self.segments(LATENESS), LATENESS)
        rows = [hosts]
        for switch in () if self.head.start_ns is None else self.head.switches:
            try:
                rows.append(self._late_rows(switch))
            except (OSError, ValueError) as error:
                problems.append(f"Lateness of {switch} over time is lost: {error}.")
        write_trace(self.folder / LATENESS.file_name, LATENESS, pl.concat(rows).sort("time_us", "part", "node"))
        return problems

    def _late_rows(self, switch: str) -> pl.DataFrame:
        start_ns, factor = self.head.start_ns or 0, self.head.dilation_factor
        return switch_rows(self.late_bins(switch), switch=switch, start_ns=start_ns, dilation_factor=factor)

    def _queue_rows(self, switch: str, samples: Samples) -> pl.DataFrame:
        start_ns, factor = self.head.start_ns or 0, self.head.dilation_factor
        return queue_rows(samples, switch=switch, start_ns=start_ns, dilation_factor=factor)


def new_journal(folder: Path, switches: Sequence[str], dilation_factor: int) -> Journal:
    """The journal of a run that begins."""
    (folder / _LOGS).mkdir(exist_ok=True)
    (folder / JOURNAL_FOLDER).mkdir()
    journal = Journal(folder, _locked(folder))
    journal.note(switches=tuple(switches), dilation_factor=dilation_factor)
    return journal


def has_journal(folder: Path) -> bool:
    """Whether a run goes on in the folder, or has ended there without saving its traces and result."""
    return (folder / JOURNAL_FOLDER).is_dir()


def open_journal(folder: Path) -> tuple[Journal, list[str]]:
    """Return the journal that a dead process left, and a sentence for each part that cannot be read.

    JournalError if the process lives; LinkRefused if a folder from which `remove` takes files is a symbolic link.
    """
    check_no_link(folder / JOURNAL_FOLDER, folder / _LOGS)
    journal = Journal(folder, _locked(folder))
    path = folder / JOURNAL_FOLDER / HEAD_FILE
    try:
        journal.head = Head.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        pass  # it ended before anything was measured
    except ValidationError as error:
        return journal, [f"No queue sample can be read: {path} is damaged ({error.errors()[0]['msg']})."]
    return journal, []


def _locked(folder: Path) -> int:
    descriptor = os.open(folder / JOURNAL_FOLDER, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise JournalError(f"{folder}: the run is still active or being reported; wait for its end") from error
    return descriptor
