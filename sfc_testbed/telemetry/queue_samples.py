# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Converts a switch's binary samples to rows of the traces `queues` and `links`.

A sample, as softswitch writes it, has 32 bytes in the machine's byte order. Its time is wall nanoseconds; rows are in
model µs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfc_testbed.telemetry.schema import LINKS, QUEUES, WHOLE_BUFFER

SAMPLE_DTYPE = np.dtype(
    [
        ("time_ns", np.int64),
        ("port", np.int32),
        ("class", np.int16),
        ("part", np.int16),
        ("depth_bytes", np.uint64),
        ("high_water_bytes", np.uint64),
    ]
)
"""End of the interval in wall ns, port and class (-1, -1: the whole buffer), part of the class, queued bytes at the end
of the interval, most queued bytes in the interval. Part n > 0 is queue n - 1 of a class with several queues; otherwise
the sample describes the whole class. A port of class -1 is a sample of its link: the depth is the bytes that the port
received in the interval, the high-water mark the bytes that it sent. A sample of part -2 follows it if the link lost
frames at this port: the depth is their bytes."""

_LOSS = -2
"""Part of a sample of the bytes that a link lost."""

Samples = NDArray[np.void]

CHUNK_SAMPLES = 65_536
"""Samples that are in memory at a time (2 MB)."""


def samples_file(switch: str) -> str:
    """Return the name of the file in a run's `logs` that holds a switch's samples, for any kind of switch."""
    return f"{switch}.samples"


def samples_from_bytes(content: bytes | bytearray | memoryview) -> Samples:
    """Return the samples in `content`. A truncated last sample is left out."""
    whole = len(content) // SAMPLE_DTYPE.itemsize
    return np.frombuffer(content, dtype=SAMPLE_DTYPE, count=whole)


def sample_chunks(path: Path, rows: int = CHUNK_SAMPLES) -> Iterator[Samples]:
    """Yield the samples in a switch's sample file in chunks of about `rows`. Samples of one instant stay together.

    A truncated last sample is left out. If the file does not exist, there are no samples.
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
    """Convert wall ns to model µs. `start_ns` is model time 0 on the same clock."""
    return (wall_ns - start_ns) / (dilation_factor * 1000.0)


def queue_rows(samples: Samples, *, switch: str, start_ns: int, dilation_factor: int) -> pl.DataFrame:
    """Return the rows of the queues trace for one switch, in time order.

    Samples up to model time 0 are left out, and so are samples of a (port, class) whose queue was empty during the
    whole interval. The whole buffer has a row for every interval. Raise ValueError if a depth does not fit 32 bits.
    """
    selected = samples[(samples["time_ns"] > start_ns) & is_of_queue(samples)]
    selected = selected[np.lexsort((selected["class"], selected["port"], selected["time_ns"]))]
    columns: dict[str, Any] = {
        "time_us": model_us(selected["time_ns"], start_ns=start_ns, dilation_factor=dilation_factor),
        "switch": [switch] * len(selected),
        "port": selected["port"].astype(np.int16),
        "class": selected["class"].astype(np.int8),
        "depth_bytes": _as_u32(selected["depth_bytes"]),
        "high_water_bytes": _as_u32(selected["high_water_bytes"]),
    }
    return pl.DataFrame(columns, schema=dict(QUEUES.dtypes))


def link_rows(samples: Samples, *, switch: str, start_ns: int, dilation_factor: int) -> pl.DataFrame:
    """Return the rows of the links trace for one switch, by time and port.

    Samples up to model time 0 are left out. Raise ValueError if a link's bytes do not fit 32 bits.
    """
    later = samples[_describes_link(samples) & (samples["time_ns"] > start_ns)]
    later = later[np.lexsort((-later["part"], later["port"], later["time_ns"]))]
    is_loss = later["part"] == _LOSS
    selected = later[~is_loss]
    lost_bytes = np.zeros(len(selected), dtype=np.uint64)
    lost_bytes[np.cumsum(~is_loss)[is_loss] - 1] = later["depth_bytes"][is_loss]
    columns: dict[str, Any] = {
        "time_us": model_us(selected["time_ns"], start_ns=start_ns, dilation_factor=dilation_factor),
        "switch": [switch] * len(selected),
        "port": selected["port"].astype(np.int16),
        "sent_bytes": _as_u32(selected["high_water_bytes"]),
        "received_bytes": _as_u32(selected["depth_bytes"]),
        "lost_bytes": _as_u32(lost_bytes),
    }
    return pl.DataFrame(columns, schema=dict(LINKS.dtypes))


def is_of_link(samples: Samples) -> NDArray[np.bool_]:
    """Return which samples are of the bytes that links sent and received."""
    selected: NDArray[np.bool_] = _describes_link(samples) & (samples["part"] != _LOSS)
    return selected


def _describes_link(samples: Samples) -> NDArray[np.bool_]:
    """Return which samples belong to the trace of links."""
    selected: NDArray[np.bool_] = (samples["class"] < 0) & (samples["port"] != WHOLE_BUFFER)
    return selected


def is_of_queue(samples: Samples) -> NDArray[np.bool_]:
    """Return which samples belong to the trace of queues, without samples of queues that were empty."""
    is_shown = (samples["port"] == WHOLE_BUFFER) | (samples["high_water_bytes"] > 0)
    selected: NDArray[np.bool_] = is_shown & (samples["part"] <= 0) & ~_describes_link(samples)
    return selected


def _as_u32(depths: NDArray[np.uint64]) -> NDArray[np.uint32]:
    if depths.size and int(depths.max()) > np.iinfo(np.uint32).max:
        raise ValueError(f"a sample of {int(depths.max())} bytes does not fit the trace's 32 bits")
    return depths.astype(np.uint32)
