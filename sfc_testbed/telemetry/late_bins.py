# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Converts a switch's binary records of its lateness over time to rows of the lateness trace.

A record, as softswitch writes it, has 24 bytes in the machine's byte order. Its times are wall nanoseconds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from sfc_testbed.telemetry.queue_samples import model_us
from sfc_testbed.telemetry.schema import LATENESS

RECORD_DTYPE = np.dtype([("time_ns", np.int64), ("departures", np.uint64), ("max_ns", np.int64)])
"""End of the interval, number of frames that left in it, and lateness of the latest of these frames."""


def late_bins_file(switch: str) -> str:
    """Return the name of the file in a run's `logs` to which a switch writes its records."""
    return f"{switch}.lateness"


def switch_rows(path: Path, *, switch: str, start_ns: int, dilation_factor: int) -> pl.DataFrame:
    """Return the rows of a switch since model time 0. A truncated last record is left out.

    If the file does not exist, there are no rows.
    """
    content = path.read_bytes() if path.exists() else b""
    records = np.frombuffer(content, dtype=RECORD_DTYPE, count=len(content) // RECORD_DTYPE.itemsize)
    selected = records[records["time_ns"] > start_ns]
    columns = {
        "time_us": model_us(selected["time_ns"], start_ns=start_ns, dilation_factor=dilation_factor),
        "part": ["switch"] * len(selected),
        "node": [switch] * len(selected),
        "departures": selected["departures"],
        "max_us": selected["max_ns"] / (dilation_factor * 1000.0),
    }
    return pl.DataFrame(columns, schema=dict(LATENESS.dtypes))
