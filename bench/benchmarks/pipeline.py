# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packets per second of CPU time through the compiled P4 program: ingress, a queue and egress, without I/O."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.benchmarks.switch import FRAME_BYTES
from bench.instruments.benchmark import Benchmark, Figure
from bench.instruments.native import answer, tool
from bench.instruments.workload import (
    FLOWS,
    IN_PORT,
    data_frames,
    entries,
    rack,
    sfc_settings,
    unlimited_wires,
    write_frames,
    write_lines,
)
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.targets.common.commands import PROGRAM
from softswitch.build import build_library

SMALL_FRAME_BYTES = 64


@dataclass
class PipelineBenchmark(Benchmark):
    """Packets per second of one thread's CPU time, which is the rate per core."""

    name = "pipeline"
    summary = "packets/s per core of the compiled SFC program, without I/O"

    packets: int = 1_000_000

    def run(self) -> list[Figure]:
        cases: Sequence[tuple[str, SwitchSettings, int]] = (
            ("forwarding only", SwitchSettings.model_validate({}), FRAME_BYTES),
            ("sfc", sfc_settings(), FRAME_BYTES),
            ("sfc, small frames", sfc_settings(), SMALL_FRAME_BYTES),
        )
        return [self._measure(*case) for case in cases]

    def _measure(self, name: str, settings: SwitchSettings, frame_bytes: int) -> Figure:
        topology = rack()
        with tempfile.TemporaryDirectory(prefix="sfc-bench-") as folder:
            commands = write_lines(Path(folder) / "commands", entries(topology, settings) + unlimited_wires())
            frames = write_frames(Path(folder) / "frames", data_frames(topology, [frame_bytes] * FLOWS))
            words = [str(build_library(PROGRAM)), commands, frames, str(IN_PORT), str(self.packets)]
            result = answer([tool("pipeline"), *words])
        if result["left"] != result["packets"]:
            raise RuntimeError(f"{result['packets'] - result['left']} packets did not come through")
        per_packet_ns = result["cpu_ns"] / result["packets"]
        return Figure(
            name, 1e9 / per_packet_ns, "packets/s", note=f"{per_packet_ns:.0f} ns a packet of {frame_bytes} B"
        )
