# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""One incast in our virtual clock, in htsim and in ns-3, in turn: data packets delivered for a second of CPU time.

They do not simulate the same thing: htsim's NDP and ns-3's TCP know no P4 program. What they share is the network, the
messages, and the packets that must get there.

Several processes of ours are measured in wall time, and by what longer messages cost more, so that their start, half a
second each, does not count: a run that is worth sharing out lasts much longer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from statistics import median

from analysis.results.spec import RunSpec
from bench.instruments.benchmark import Benchmark, Figure, Skipped, Target
from bench.instruments.simulated import incast_request, shared_wall_s, simulated
from bench.peers.contestants import HTSIM_VARIABLE, NS3_VARIABLE, Race, RaceError, htsim_cpu_s, ns3_cpu_s

OF_HTSIM = Target(0.5, "at least")
OF_NS3 = Target(8.0, "at least")
TWO_OF_HTSIM = Target(1.0, "at least")
_VARIABLES = {"htsim": HTSIM_VARIABLE, "ns-3": NS3_VARIABLE}
_ROUNDS = 3
_PROCESSES = 2
_LONGER = 10
"""Times the bytes of a message, in the longer run of several processes."""


class PeersBenchmark(Benchmark):
    """CPU time, since other work of the machine shows least in it. Skipped where no peer is or one fails."""

    name = "peers"
    summary = "data packets/s of a virtual 64:1 incast beside htsim and ns-3 (environment variables name them)"

    def __init__(self, race: Race | None = None, rounds: int = _ROUNDS) -> None:
        self._race = race or Race()
        self._rounds = rounds

    def run(self) -> list[Figure]:
        contestants = self._contestants()
        absent = [f"{variable} names no {name}" for name, variable in _VARIABLES.items() if name not in contestants]
        if len(absent) == len(_VARIABLES):
            raise Skipped(", ".join(absent))
        spent_s: dict[str, list[float]] = {name: [] for name in contestants}
        try:
            for _ in range(self._rounds):
                for name, measure in contestants.items():
                    spent_s[name].append(measure())
        except RaceError as error:
            raise Skipped(str(error)) from error
        rates = {name: self._race.data_packets / median(times) for name, times in spent_s.items()}
        notes = {name: f"median of {len(times)}" for name, times in spent_s.items()}
        notes["ours"] = "; ".join([notes["ours"], *absent])
        figures = [Figure(name, rate, "data packets/s", note=notes[name]) for name, rate in rates.items()]
        for name, target in (("htsim", OF_HTSIM), ("ns-3", OF_NS3)):
            if name in rates:
                figures.append(Figure(f"ours / {name}", rates["ours"] / rates[name], target=target))
        return [*figures, *self._of_processes(rates)]

    def _of_processes(self, rates: Mapping[str, float]) -> list[Figure]:
        """Those of several processes; none where there are fewer cores."""
        if (os.cpu_count() or 1) < _PROCESSES:
            return []
        name = f"ours, {_PROCESSES} processes"
        rate = median(processes_rate(self._race, _PROCESSES) for _ in range(self._rounds))
        figures = [Figure(name, rate, "data packets/s", note=f"wall time, median of {self._rounds}")]
        for peer, target in (("htsim", TWO_OF_HTSIM), ("ns-3", OF_NS3)):
            if peer in rates:
                figures.append(Figure(f"{name} / {peer}", rate / rates[peer], target=target))
        return figures

    def _contestants(self) -> Mapping[str, Callable[[], float]]:
        race = self._race
        found: dict[str, Callable[[], float]] = {"ours": lambda: ours_cpu_s(race)}
        if binary := os.environ.get(HTSIM_VARIABLE):
            found["htsim"] = lambda: htsim_cpu_s(binary, race)
        if python := os.environ.get(NS3_VARIABLE):
            found["ns-3"] = lambda: ns3_cpu_s(python, race)
        return found


def ours_cpu_s(race: Race) -> float:
    """CPU time of the virtual clock, one process."""
    return simulated(incast_of(race)).cpu_s


def processes_rate(race: Race, processes: int) -> float:
    """Data packets for a second of wall time of the virtual clock in so many processes, their start left out."""
    longer = replace(race, message_bytes=race.message_bytes * _LONGER)
    spent_s = shared_wall_s(incast_of(longer), processes) - shared_wall_s(incast_of(race), processes)
    return (longer.data_packets - race.data_packets) / spent_s


def incast_of(race: Race) -> RunSpec:
    """The race on our virtual clock."""
    settings = {
        "topology.tors": race.tors,
        "topology.hosts_per_tor": race.hosts_per_tor,
        "topology.spines": race.spines,
        "degree": race.senders,
        "message_bytes": race.message_bytes,
        "transport.payload_bytes": race.payload_bytes,
    }
    return incast_request(*(f"{name}={value}" for name, value in settings.items()))
