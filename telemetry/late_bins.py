# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Turns a switch's binary records of its lateness over time into rows of the lateness trace.

A record is 24 bytes in the machine's byte order, as softswitch writes it; its times are wall nanoseconds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from telemetry.queue_samples import model_us
from telemetry.schema import LATENESS

RECORD_DTYPE = np.dtype([("time_ns", np.int64), ("departures", np.uint64), ("max_ns", np.int64)])
"""End of the interval, how many frames left in it, and how late the latest of them was."""


def late_bins_file(switch: str) -> str:
    """Name of the file in a run's `logs` that a switch's records go to while it runs."""
    return f"{switch}.lateness"


def switch_rows(path: Path, *, switch: str, start_ns: int, dilation_factor: int) -> pl.DataFrame:
    """What the file of a switch holds since model time 0; no row if it is not there. A cut last record is left out."""
    content = path.read_bytes() if path.exists() else b""
    records = np.frombuffer(content, dtype=RECORD_DTYPE, count=len(content) // RECORD_DTYPE.itemsize)
    kept = records[records["time_ns"] > start_ns]
    columns = {
        "time_us": model_us(kept["time_ns"], start_ns=start_ns, dilation_factor=dilation_factor),
        "part": ["switch"] * len(kept),
        "node": [switch] * len(kept),
        "departures": kept["departures"],
        "max_us": kept["max_ns"] / (dilation_factor * 1000.0),
    }
    return pl.DataFrame(columns, schema=dict(LATENESS.dtypes))
