# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Wall time and packets per second of a virtual incast, and the shares of the Python hosts and the C switches.

The incast runs twice: once unchanged, and once with the calls into the C switches timed, which itself takes some time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from bench.instruments.benchmark import Benchmark, Figure
from bench.instruments.simulated import simulated
from sfc_testbed.request.spec import RunSpec
from softswitch.engine import Fabric

_CALLS_INTO_C = ("run", "put", "next_timer_ns")


@dataclass
class SimulationBenchmark(Benchmark):
    """The scenario incast with the scheme sfc at `scale`."""

    name = "simulation"
    summary = "wall time of a virtual incast, and the shares of hosts and switches"

    scale: str = "paper"

    def run(self) -> list[Figure]:
        request = RunSpec("incast", scheme="sfc", clock="virtual", scale=self.scale)
        counters = simulated(request).counters
        packets = counters.packets.sent
        with _timed_fabric() as spent:
            timed = simulated(request).counters
        share = spent[0] / 1e9 / timed.wall_s
        return [
            Figure("wall time", counters.wall_s, "s", note=f"{packets:,} packets from hosts, scale {self.scale}"),
            Figure("rate", packets / counters.wall_s, "packets/s"),
            Figure("C switches", 100 * share, "% of wall time", note="including the calls into C"),
            Figure("Python hosts and event queue", 100 * (1 - share), "% of wall time"),
        ]


@contextmanager
def _timed_fabric() -> Iterator[list[int]]:
    """Time the calls into C during the block; the yielded list has one element, their total in ns."""
    spent = [0]

    def timed(call: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            began_ns = time.perf_counter_ns()
            try:
                return call(*arguments)
            finally:
                spent[0] += time.perf_counter_ns() - began_ns

        return run

    with ExitStack() as patches:
        for name in _CALLS_INTO_C:
            patches.enter_context(mock.patch.object(Fabric, name, timed(getattr(Fabric, name))))
        yield spent
