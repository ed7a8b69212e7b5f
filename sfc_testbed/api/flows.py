# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Flow lists from rows in memory, such as tuples or a data frame, as files that a run can be repeated with."""

from __future__ import annotations

import csv
import hashlib
import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from sfc_testbed.request.shown import shown
from sfc_testbed.scenarios.traffic.flow_file import COLUMNS, OPTIONAL_COLUMNS
from sfc_testbed.telemetry.atomic_file import replace_text
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.limits import check_output
from sfc_testbed.testbed.recording.folder import give_to_caller

_DEFAULTS = {"start_ns": 0, "tag": "flow"}
_LEAST_VALUES = 3
_DIGITS = 12


@contextmanager
def flow_file_of(flows: Any, out: Path) -> Iterator[Path | None]:
    """Provide the file of a flow list: the named file, or a new one in `out` with the rows of a list or data frame.

    The new file is named by its content and is kept for repetitions, unless the body raises UsageError.
    """
    if flows is None or isinstance(flows, (str, os.PathLike)):
        yield None if flows is None else Path(flows)
        return
    text = _csv_of(_rows_of(flows))
    path = out.absolute() / f"flows-{hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]}.csv"
    is_new = not path.exists()
    missing: list[Path] = []
    if is_new:
        check_output(out)
        missing = [folder for folder in path.parents if not folder.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)
        give_to_caller(missing[-1] if missing else path)
    try:
        yield path
    except UsageError:
        if is_new:
            path.unlink(missing_ok=True)
            with suppress(OSError):  # another run may be in the folder by now
                for folder in missing:
                    folder.rmdir()
        raise


def _rows_of(flows: Any) -> Iterable[Any]:
    """Return the rows of a list, or of a data frame of polars or pandas."""
    if hasattr(flows, "collect") and hasattr(flows, "lazy"):
        flows = flows.collect()
    if hasattr(flows, "to_dicts"):
        rows: Iterable[Any] = flows.to_dicts()
        return rows
    if hasattr(flows, "to_dict") and hasattr(flows, "columns"):
        records: Iterable[Any] = flows.to_dict("records")
        return records
    if isinstance(flows, Mapping) or not isinstance(flows, Iterable):
        raise UsageError(f"--flows: not a file, rows or a data frame: {shown(flows)}")
    return flows


def _csv_of(rows: Iterable[Any]) -> str:
    """Return the text of a flow list. UsageError names a row without the necessary values."""
    table = [_row(number, row) for number, row in enumerate(rows, start=1)]
    optional = [name for name in OPTIONAL_COLUMNS if any(row.get(name) for row in table)]
    columns = (*COLUMNS, *optional)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_text(row.get(name, 0 if name != "after" else "")) for name in columns] for row in table)
    return out.getvalue()


def _row(number: int, row: Any) -> dict[str, Any]:
    if isinstance(row, Mapping):
        values = {str(name): value for name, value in row.items()}
        if "start_ns" not in values and "start_us" in values:
            values["start_ns"] = round(values["start_us"] * 1000)  # a column of the flows trace
    elif isinstance(row, Sequence) and not isinstance(row, str) and _LEAST_VALUES <= len(row) <= len(COLUMNS):
        values = dict(zip(COLUMNS, row, strict=False))
    else:
        raise UsageError(f"--flows: row {number} is not {', '.join(COLUMNS)}: {shown(row)}")
    missing = next((name for name in COLUMNS if name not in values and name not in _DEFAULTS), None)
    if missing is not None:
        raise UsageError(f"--flows: row {number} has no {missing}: {shown(row)}")
    return {**_DEFAULTS, **values}


def _text(value: Any) -> Any:
    """Return a value as a cell: several flows that a flow waits for are separated by spaces."""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
