# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A virtual incast run: wall time, packets a second, and who used the time, the Python hosts or the C switches.

The run is made twice: once as it is, once with the calls into the C switches timed, which costs a little itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from analysis.results.spec import RunSpec
from bench.instruments.benchmark import Benchmark, Figure
from bench.instruments.simulated import simulated
from softswitch.engine import Fabric

_CALLS_INTO_C = ("run", "put", "next_timer_ns")


class SimulationBenchmark(Benchmark):
    """The incast of `scale` with the scheme sfc."""

    name = "simulation"
    summary = "wall time of a virtual incast, and the shares of hosts and switches"

    def __init__(self, scale: str = "paper") -> None:
        self._scale = scale

    def run(self) -> list[Figure]:
        request = RunSpec("incast", scheme="sfc", clock="virtual", scale=self._scale)
        counters = simulated(request).counters
        packets = counters.packets.sent
        with _timed_fabric() as spent:
            timed = simulated(request).counters
        share = spent[0] / 1e9 / timed.wall_s
        return [
            Figure("wall time", counters.wall_s, "s", note=f"{packets:,} packets of hosts, scale {self._scale}"),
            Figure("rate", packets / counters.wall_s, "packets/s"),
            Figure("C switches", 100 * share, "% of wall time", note="with the calls into them"),
            Figure("Python hosts and event queue", 100 * (1 - share), "% of wall time"),
        ]


@contextmanager
def _timed_fabric() -> Iterator[list[int]]:
    """Times the calls into C while the block runs: nanoseconds in the list's one place."""
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
