# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Data packets delivered per second of CPU time for the same incast on our virtual clock, in htsim and in ns-3.

The simulators do different work: htsim runs NDP, ns-3 runs TCP, and neither executes a P4 program. The network, the
messages and the number of packets to deliver are the same.

Our run in several processes is measured in wall time. It is the difference between a long and a short incast, so that
the start of the processes, half a second each, does not count: a run that is worth sharing lasts much longer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from statistics import median

from analysis.results.spec import RunSpec
from bench.instruments.benchmark import Benchmark, Figure, Skipped, Target
from bench.instruments.contestants import HTSIM_VARIABLE, NS3_VARIABLE, Race, RaceError, htsim_cpu_s, ns3_cpu_s
from bench.instruments.simulated import incast_request, shared_wall_s, simulated

OF_HTSIM = Target(0.5, "at least")
OF_NS3 = Target(8.0, "at least")
TWO_OF_HTSIM = Target(1.0, "at least")
_VARIABLES = {"htsim": HTSIM_VARIABLE, "ns-3": NS3_VARIABLE}
_PROCESSES = 2
_LONGER = 10
"""Factor between the message sizes of the long and the short incast in several processes."""


@dataclass
class PeersBenchmark(Benchmark):
    """Comparison by CPU time, which other work on the machine affects least. Skipped without a peer or if one fails."""

    name = "peers"
    summary = "data packets/s of a virtual 64:1 incast, compared with htsim and ns-3 (set in environment variables)"

    race: Race = field(default_factory=Race)
    rounds: int = 3

    def run(self) -> list[Figure]:
        contestants = self._contestants()
        absent = [f"{variable} is not set ({name})" for name, variable in _VARIABLES.items() if name not in contestants]
        if len(absent) == len(_VARIABLES):
            raise Skipped(", ".join(absent))
        spent_s: dict[str, list[float]] = {name: [] for name in contestants}
        try:
            for _ in range(self.rounds):
                for name, measure in contestants.items():
                    spent_s[name].append(measure())
        except RaceError as error:
            raise Skipped(str(error)) from error
        rates = {name: self.race.data_packets / median(times) for name, times in spent_s.items()}
        notes = {name: f"median of {len(times)}" for name, times in spent_s.items()}
        notes["ours"] = "; ".join([notes["ours"], *absent])
        figures = [Figure(name, rate, "data packets/s", note=notes[name]) for name, rate in rates.items()]
        for name, target in (("htsim", OF_HTSIM), ("ns-3", OF_NS3)):
            if name in rates:
                figures.append(Figure(f"ours / {name}", rates["ours"] / rates[name], target=target))
        return [*figures, *self._process_figures(rates)]

    def _process_figures(self, rates: Mapping[str, float]) -> list[Figure]:
        """Return the figures of our run in several processes, or none on a machine with fewer cores."""
        if (os.cpu_count() or 1) < _PROCESSES:
            return []
        name = f"ours, {_PROCESSES} processes"
        rate = median(processes_rate(self.race, _PROCESSES) for _ in range(self.rounds))
        figures = [Figure(name, rate, "data packets/s", note=f"wall time, median of {self.rounds}")]
        for peer, target in (("htsim", TWO_OF_HTSIM), ("ns-3", OF_NS3)):
            if peer in rates:
                figures.append(Figure(f"{name} / {peer}", rate / rates[peer], target=target))
        return figures

    def _contestants(self) -> Mapping[str, Callable[[], float]]:
        race = self.race
        contestants: dict[str, Callable[[], float]] = {"ours": lambda: ours_cpu_s(race)}
        if binary := os.environ.get(HTSIM_VARIABLE):
            contestants["htsim"] = lambda: htsim_cpu_s(binary, race)
        if python := os.environ.get(NS3_VARIABLE):
            contestants["ns-3"] = lambda: ns3_cpu_s(python, race)
        return contestants


def ours_cpu_s(race: Race) -> float:
    """Return the CPU time of the race on our virtual clock in one process, in seconds."""
    return simulated(incast_of(race)).cpu_s


def processes_rate(race: Race, processes: int) -> float:
    """Return data packets per second of wall time in `processes` processes, without the time of their start."""
    longer = replace(race, message_bytes=race.message_bytes * _LONGER)
    spent_s = shared_wall_s(incast_of(longer), processes) - shared_wall_s(incast_of(race), processes)
    return (longer.data_packets - race.data_packets) / spent_s


def incast_of(race: Race) -> RunSpec:
    """Return the request for the race on our virtual clock."""
    settings = {
        "topology.tors": race.tors,
        "topology.hosts_per_tor": race.hosts_per_tor,
        "topology.spines": race.spines,
        "degree": race.senders,
        "message_bytes": race.message_bytes,
        "transport.payload_bytes": race.payload_bytes,
    }
    return incast_request(*(f"{name}={value}" for name, value in settings.items()))
