# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Waiting time of frames between two idle ports of softswitch, while another port is flooded.

A frame at a time passes from h3 to h4. Its wait ends at the kernel's receive time behind the switch. Meanwhile h1 sends
to h2 at different rates. The cases alternate, because other work on the machine changes the waits more than the flood.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.instruments.benchmark import Benchmark, Figure
from bench.instruments.native import answer, running, tool
from bench.instruments.network import require_root, veth_pairs
from bench.instruments.workload import (
    FLOWS,
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

_IDLE_PORTS = (3, 4)
_IDLE_HOSTS = ("h3", "h4")
_PORTS = (IN_PORT, OUT_PORT, *_IDLE_PORTS)
_NETWORK = tuple((f"far{port}", f"port{port}") for port in _PORTS)
_FRAME_BYTES = 1058
_INTERVAL_US = 2000
_UNPACED = 0
_ENDLESS = 10**12
_LEAD_SECONDS = 0.5


@dataclass
class FloodBenchmark(Benchmark):
    """Waits of an idle pair of ports without a flood, beside a flood that the switch carries, and beside overload."""

    name = "flood"
    summary = "wait of a frame between two idle ports of softswitch beside a flooded port"

    probes: int = 250
    rounds: int = 4
    rates_pps: Sequence[int | None] = field(default=(None, 160_000, _UNPACED))
    """The rates of the floods. None stands for no flood, 0 for as many frames as the generator can send."""
    executable: Path | None = None
    """The switch; by default that of this tree."""

    def run(self) -> list[Figure]:
        require_root()
        waits_us: dict[int | None, list[npt.NDArray[np.float64]]] = {rate: [] for rate in self.rates_pps}
        with tempfile.TemporaryDirectory(prefix="sfc-bench-") as folder, veth_pairs(_NETWORK):
            for _ in range(self.rounds):
                for rate in self.rates_pps:
                    waits_us[rate].append(self._measure(Path(folder), rate))
        return flood_figures({rate: np.concatenate(parts) for rate, parts in waits_us.items()})

    def _measure(self, folder: Path, rate_pps: int | None) -> npt.NDArray[np.float64]:
        """Return the waits of one case in µs; a lost frame has waited for ever."""
        topology = rack()
        lines = entries(topology, sfc_settings()) + unlimited_wires(_PORTS)
        interfaces = {port: f"port{port}" for port in _PORTS}
        switch = softswitch_command(lines, folder / "commands", interfaces, self.executable)
        frames = write_frames(folder / "probes", data_frames(topology, [100], hosts=_IDLE_HOSTS))
        probe = [tool("traffic"), "probe", f"far{_IDLE_PORTS[0]}", f"far{_IDLE_PORTS[1]}", frames]
        probe += [str(folder / "waits"), str(self.probes), str(_INTERVAL_US)]
        with running(switch), _flood(folder, rate_pps):
            answer(probe, seconds=self.probes + 60.0)
        waits_ns = np.fromfile(folder / "waits", np.int64)
        return np.where(waits_ns > 0, waits_ns / 1e3, np.inf)


@contextmanager
def _flood(folder: Path, rate_pps: int | None) -> Iterator[None]:
    """Send frames from h1 to h2 during the block, at a rate, or as fast as possible if it is 0."""
    if rate_pps is None:
        yield
        return
    frames = write_frames(folder / "flood", data_frames(rack(), [_FRAME_BYTES] * FLOWS))
    words = [tool("traffic"), "send", f"far{IN_PORT}", f"far{OUT_PORT}", frames, str(rate_pps), str(_ENDLESS)]
    with running(words, ready=None):
        time.sleep(_LEAD_SECONDS)  # the kernel's buffers are full from the first probe on
        yield


def flood_figures(waits_us: Mapping[int | None, npt.NDArray[np.float64]]) -> list[Figure]:
    """Return the median and the tail of the waits of each case."""
    figures = []
    for rate, waits in waits_us.items():
        lost = int(np.isinf(waits).sum())
        note = f"{lost} of {len(waits)} frames lost" if lost else ""
        for percent in (50, 99):
            value = float(np.percentile(waits, percent, method="lower"))
            figures.append(Figure(f"wait p{percent}, {_case(rate)}", value, "µs", note=note))
    return figures


def _case(rate_pps: int | None) -> str:
    if rate_pps is None:
        return "no flood"
    return f"flood of {rate_pps:,} frames/s" if rate_pps else "flood without limit"
