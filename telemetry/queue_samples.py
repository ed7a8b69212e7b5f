# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Turns the switch's binary queue samples into rows of the queues trace.

A sample is 32 bytes in the machine's byte order, as softswitch writes it; its time is wall nanoseconds. This file knows
that layout and the change to model µs, and neither switches nor clocks.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from telemetry.schema import QUEUES, WHOLE_BUFFER

SAMPLE_DTYPE = np.dtype(
    [
        ("time_ns", np.int64),
        ("port", np.int32),
        ("class", np.int32),
        ("depth_bytes", np.uint64),
        ("high_water_bytes", np.uint64),
    ]
)
"""One sample: end of its interval in wall ns, port, class (-1, -1: the whole buffer), bytes now, most bytes since."""

Samples = NDArray[np.void]

CHUNK_SAMPLES = 65_536
"""2 MB."""


def samples_file(switch: str) -> str:
    """Name of the file in a run's `logs` that a switch's samples go to while it runs, whatever takes them."""
    return f"{switch}.samples"


def samples_from_bytes(content: bytes | bytearray | memoryview) -> Samples:
    """The whole samples in `content`; a last one cut short by an interruption is left out."""
    whole = len(content) // SAMPLE_DTYPE.itemsize
    return np.frombuffer(content, dtype=SAMPLE_DTYPE, count=whole)


def sample_chunks(path: Path, rows: int = CHUNK_SAMPLES) -> Iterator[Samples]:
    """The samples in a switch's sample file, about so many at a time; those of one instant stay together.

    A file that is not there has none, and a last sample cut short is left out.
    """
    if not path.exists():
        return
    rest = samples_from_bytes(b"")
    with path.open("rb") as file:
        while block := file.read(rows * SAMPLE_DTYPE.itemsize):
            samples = np.concatenate([rest, samples_from_bytes(block)])
            last_instant = int(np.searchsorted(samples["time_ns"], samples["time_ns"][-1])) if samples.size else 0
            rest = samples[last_instant:]
            if last_instant:
                yield samples[:last_instant]
    if rest.size:
        yield rest


def model_us(wall_ns: NDArray[np.int64], *, start_ns: int, dilation_factor: int) -> NDArray[np.float64]:
    """Wall ns as model µs since `start_ns`, model time 0 on the same clock. Raises ValueError unless factor >= 1."""
    if dilation_factor < 1:
        raise ValueError(f"the dilation factor must be at least 1, not {dilation_factor}")
    return (wall_ns - start_ns) / (dilation_factor * 1000.0)


def queue_rows(samples: Samples, *, switch: str, start_ns: int, dilation_factor: int) -> pl.DataFrame:
    """Rows of the queues trace for one switch, in time order.

    Left out: samples before model time 0, and (port, class) samples of an interval in which that queue held nothing.
    The whole buffer has a row for every interval. Raises ValueError if a depth does not fit 32 bits.
    """
    kept = samples[_belongs(samples, start_ns)]
    kept = kept[np.lexsort((kept["class"], kept["port"], kept["time_ns"]))]
    columns: dict[str, Any] = {
        "time_us": model_us(kept["time_ns"], start_ns=start_ns, dilation_factor=dilation_factor),
        "switch": [switch] * len(kept),
        "port": kept["port"].astype(np.int16),
        "class": kept["class"].astype(np.int8),
        "depth_bytes": _as_u32(kept["depth_bytes"]),
        "high_water_bytes": _as_u32(kept["high_water_bytes"]),
    }
    return pl.DataFrame(columns, schema=dict(QUEUES.dtypes))


def _belongs(samples: Samples, start_ns: int) -> NDArray[np.bool_]:
    whole_buffer = samples["port"] == WHOLE_BUFFER
    kept: NDArray[np.bool_] = (samples["time_ns"] >= start_ns) & (whole_buffer | (samples["high_water_bytes"] > 0))
    return kept


def _as_u32(depths: NDArray[np.uint64]) -> NDArray[np.uint32]:
    if depths.size and int(depths.max()) > np.iinfo(np.uint32).max:
        raise ValueError(f"a queue depth of {int(depths.max())} bytes does not fit the trace's 32 bits")
    return depths.astype(np.uint32)
