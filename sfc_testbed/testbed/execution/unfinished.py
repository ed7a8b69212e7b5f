# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Finishes a run whose runner ended before saving: writes traces from the journal, and a result that says so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from sfc_testbed.analysis.results.result import RESULT_FILE, write_result
from sfc_testbed.analysis.results.stored import read_config
from sfc_testbed.telemetry.journal import Journal, JournalError, has_journal, open_journal
from sfc_testbed.telemetry.reader import answer, scan_trace
from sfc_testbed.telemetry.schema import FLOWS, GOODPUT, LATENESS, LINKS, QUEUES, SCHEMAS, SIGNALS
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.recording.folder import ERROR_FILE

_TIMES = {
    FLOWS.name: "finish_us",
    QUEUES.name: "time_us",
    LINKS.name: "time_us",
    SIGNALS.name: "received_us",
    GOODPUT.name: "until_us",
    LATENESS.name: "time_us",
}


def finish_run(folder: Path) -> bool:
    """Write traces and a result for a run that was cut off; return False for any other folder, which is not changed.

    Raises UsageError if the run is still going on, and ResultError if the run cannot be identified.
    """
    if not has_journal(folder):
        return False
    try:
        journal, problems = open_journal(folder)
    except JournalError as error:
        raise UsageError(str(error)) from error
    try:
        if not (folder / RESULT_FILE).exists():
            _finish(journal, problems)
        journal.remove()
    finally:
        journal.release()
    return True


def _finish(journal: Journal, problems: list[str]) -> None:
    from sfc_testbed.analysis.results.build import build_unfinished_result  # loads slowly; every run loads this module

    folder = journal.folder
    config = read_config(folder)
    problems += journal.write_traces()
    traces = {schema.name: scan_trace(folder / schema.file_name, schema) for schema in SCHEMAS.values()}
    result = build_unfinished_result(
        config,
        (_how_it_ended(journal, _last_us(traces)), *problems),
        flows=traces[FLOWS.name],
        queues=traces[QUEUES.name],
        signals=traces[SIGNALS.name],
        links=traces[LINKS.name],
    )
    write_result(folder, result)


def _last_us(traces: Mapping[str, pl.LazyFrame]) -> float | None:
    """Return the last instant in any trace, in us of model time; None for empty traces."""
    latest = (answer(traces[name].select(pl.col(column).max())).item() for name, column in _TIMES.items())
    return max((last for last in latest if isinstance(last, float)), default=None)


def _how_it_ended(journal: Journal, last_us: float | None) -> str:
    """Return the reason of the verdict: how the run ended, and what is missing."""
    when = "" if last_us is None else f" at about {last_us:,.0f} us of model time"
    failure = journal.folder / "logs" / ERROR_FILE
    if failure.is_file():
        return f"The run failed{when}: {failure.read_text(encoding='utf-8', errors='replace').strip().rstrip('.')}."
    if journal.head.start_ns is None:
        return "The runner was killed before model time 0: no flow had started."
    if last_us is None:
        return "The runner was killed before anything of the run was saved."
    stage = " after the run had ended, while saving it" if journal.head.all_told else ""
    return (
        f"The runner was killed{stage}{when}; counters of hosts and switches were not read, "
        f"and measurements of the last moments are missing in the traces."
    )
