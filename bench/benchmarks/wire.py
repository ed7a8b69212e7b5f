# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Accuracy of a live softswitch port's rate and frame spacing, with frames of two classes and mixed sizes.

The frames are offered at ten times the configured rate, so the port has a backlog from the first frame to the last. The
kernel's receive timestamps at the far end of the port's veth pair are the arrival times.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.instruments.benchmark import Benchmark, Figure, Target
from bench.instruments.native import answer, running, tool
from bench.instruments.network import require_root, veth_pairs
from bench.instruments.workload import (
    FRAME_OVERHEAD,
    IN_PORT,
    OUT_PORT,
    data_frames,
    entries,
    rack,
    sfc_settings,
    softswitch_command,
    unlimited_wires,
    write_frames,
)
from sfc_testbed.wire.constants import DSCP_CONTROL, DSCP_DATA

RATE_BPS = 50_000_000
ARRIVAL = np.dtype([("time_ns", "<i8"), ("length", "<u4"), ("dscp", "<u4")])
"""The record that `traffic record` (bench/programs/traffic.c) writes for each frame."""

_NETWORK = (("source0", "in0"), ("out0", "sink0"))
_OFFERED = 10
_WINDOWS = 4
_QUIET_MS = 2000
_PATTERN_FRAMES = 4096
_SEED = 1


@dataclass
class WireBenchmark(Benchmark):
    """Rate, spacing and loss on one port. Needs root."""

    name = "wire"
    summary = "two classes and mixed frame sizes on one port: spacing, and bits/s compared with the configured rate"

    seconds: float = 4.0

    def run(self) -> list[Figure]:
        require_root()
        with tempfile.TemporaryDirectory(prefix="sfc-bench-") as folder, veth_pairs(_NETWORK):
            arrivals, sent = self._measure(Path(folder))
        return wire_figures(arrivals, sent, RATE_BPS)

    def _measure(self, folder: Path) -> tuple[npt.NDArray[np.void], int]:
        topology = rack()
        lengths = np.random.default_rng(_SEED).integers(max(64, FRAME_OVERHEAD), 1501, _PATTERN_FRAMES)
        frames = data_frames(topology, [int(length) for length in lengths], (DSCP_DATA, DSCP_CONTROL))
        mean_bits = 8 * sum(map(len, frames)) / len(frames)
        count = int(self.seconds * RATE_BPS / mean_bits)
        settings = sfc_settings(bts="off", pause_cache=False, buffer_bytes=None)
        lines = entries(topology, settings) + unlimited_wires() + [f"port_rate {OUT_PORT} {RATE_BPS}"]
        switch = [*softswitch_command(lines, folder / "commands", {IN_PORT: "in0", OUT_PORT: "out0"}), "--realtime"]
        record = [tool("traffic"), "record", "sink0", str(folder / "arrivals"), str(count), str(_QUIET_MS)]
        pattern = write_frames(folder / "frames", frames)
        offered_pps = str(int(_OFFERED * RATE_BPS / mean_bits))
        with running(switch), running(record) as recorder:
            answer([tool("traffic"), "send", "source0", "sink0", pattern, offered_pps, str(count)])
            recorder.wait(_QUIET_MS / 1000 + self.seconds)
        return np.fromfile(folder / "arrivals", ARRIVAL), count


def wire_figures(arrivals: npt.NDArray[np.void], sent: int, rate_bps: int) -> list[Figure]:
    """Return the figures for the arrival times behind a port that always had a backlog.

    The error of a gap is its difference from the transmission time of the frame at its end.
    """
    times_ns, lengths = arrivals["time_ns"].astype(np.int64), arrivals["length"].astype(np.int64)
    bits = 8 * np.cumsum(lengths)
    achieved_bps = float((bits[-1] - bits[0]) * 1e9 / (times_ns[-1] - times_ns[0]))
    window_ns = int(times_ns[-1] - times_ns[0]) // _WINDOWS
    ends = np.searchsorted(times_ns, times_ns + window_ns, side="right") - 1
    whole = times_ns + window_ns <= times_ns[-1]
    busiest_bps = float(np.max((bits[ends] - bits)[whole])) * 1e9 / window_ns
    errors_us = np.abs(np.diff(times_ns) - 8e9 * lengths[1:] / rate_bps) / 1000
    classes = ", ".join(f"{int(np.sum(lengths[arrivals['dscp'] == d])):,} B" for d in np.unique(arrivals["dscp"]))
    error = 100 * (achieved_bps / rate_bps - 1)
    return [
        Figure("achieved", achieved_bps / 1e6, "Mb/s", note=f"{rate_bps / 1e6:g} Mb/s configured; by class {classes}"),
        Figure("error of the rate", abs(error), "%", target=Target(1.0, "at most"), note=f"{error:+.4f} %"),
        Figure(
            "busiest quarter, both classes",
            100 * busiest_bps / rate_bps,
            "% of the rate",
            Target(101, "at most"),
            f"busiest {window_ns / 1e9:.2g} s; a late frame just before raises the figure",
        ),
        *(
            Figure(f"error of gaps, p{percent}", float(np.percentile(errors_us, percent)), "µs")
            for percent in (50, 95, 99)
        ),
        Figure("frames lost", sent - len(arrivals), "frames", target=Target(0, "at most")),
    ]
