# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The planned flows of a run in its journal, as files of NumPy.

A run writes them before its first packet, and polars takes longer to load than all of them take to write.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfc_testbed.telemetry.atomic_file import replace_file
from sfc_testbed.telemetry.flow_parts import PLANNED
from sfc_testbed.telemetry.reader import TraceError, conforming, read_trace
from sfc_testbed.telemetry.schema import conformed
from sfc_testbed.telemetry.segments import segment_paths

_SUFFIX = ".npz"
_HOSTS, _TAGS = "hosts", "tags"


def write_planned(
    folder: Path, number: int, columns: Mapping[str, NDArray[Any]], *, hosts: Sequence[str], tags: Sequence[str]
) -> None:
    """Write a part of the plan. `src` and `dst` are indices in `hosts`, `tag` in `tags`; NaN is null."""
    arrays: dict[str, Any] = {**columns, _HOSTS: np.array(hosts, dtype=str), _TAGS: np.array(tags, dtype=str)}
    folder.mkdir(parents=True, exist_ok=True)

    def write(partial: Path) -> None:
        with partial.open("wb") as file:
            np.savez(file, **arrays)

    replace_file(folder / f"{number:06d}{_SUFFIX}", write)


def planned_paths(folder: Path) -> list[Path]:
    """Return the files with the plan, in order. Those of release 0.3 and older ones are segments of a trace."""
    return sorted(folder.glob(f"*{_SUFFIX}")) or segment_paths(folder)


def read_planned(path: Path) -> pl.DataFrame:
    """Return the rows of a file with planned flows. Raise TraceError if the file cannot be read.

    As in other traces, a column that the file's release did not write is null if it can be null.
    """
    if path.suffix != _SUFFIX:
        return read_trace(path, PLANNED)
    try:
        with path.open("rb") as file, np.load(file) as stored:
            columns = {name: stored[name] for name in stored.files}
        hosts, tags = (pl.Series(columns.pop(name).tolist(), dtype=pl.String) for name in (_HOSTS, _TAGS))
        names = {name: values.gather(columns[name]) for name, values in (("src", hosts), ("dst", hosts), ("tag", tags))}
        frame = pl.DataFrame({**columns, **names}).with_columns(pl.selectors.float().fill_nan(None))
        return conformed(conforming(frame, PLANNED), PLANNED)
    except (
        OSError,
        EOFError,
        LookupError,
        TypeError,
        ValueError,
        zipfile.BadZipFile,
        pl.exceptions.PolarsError,
    ) as error:
        raise TraceError(f"{path}: not a whole file of planned flows ({error})") from error
