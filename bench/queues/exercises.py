# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The exercises of the P4 tutorials that observe queues: their programs, table entries and frames.

The switches are a chain from the sender to the receiver. Port 1 of each switch leads to its host, port 2 to the other
switch. Must not know how switches are started.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.queues import frames
from bench.queues.theory import Load

HOST_PORT, SWITCH_PORT = 1, 2
PORTS_ON_THE_WAY = (SWITCH_PORT, HOST_PORT)
"""The port through which each switch, from the sender on, sends to the receiver."""
ECN_THRESHOLD = 10
"""The packets before a packet from which on the exercise `ecn` marks it."""
NS = 1_000_000_000


@dataclass(frozen=True)
class Exercise:
    """An exercise: how it is set up, and what its frames look like."""

    name: str
    switch_default: Sequence[str] = ()
    """A table and the default action that gives it the number of the switch."""
    ecn: int = 0
    records_hops: bool = False
    grown_bytes: int = 0
    """The bytes that a switch adds to a data frame before sending it."""
    probe_interval_s: float = 0.0
    """The time between two probes; 0: there are none."""

    def program(self, tutorials: Path) -> Path:
        """Return the path of the solution in a clone of the tutorials."""
        return tutorials / "exercises" / self.name / "solution" / f"{self.name}.p4"

    def commands(self, switch: int) -> list[str]:
        """Return the commands that set the tables of a switch, 1 or 2."""
        port = PORTS_ON_THE_WAY[switch - 1]
        lines = [f"table_add ipv4_lpm ipv4_forward {frames.RECEIVER}/32 => {frames.NEXT_MAC} {port}"]
        if self.switch_default:
            lines.append(f"table_set_default {' '.join(self.switch_default)} {switch}")
        return lines

    def frames(self, load: Load, rate_bps: int, end_s: float) -> list[tuple[int, bytes]]:
        """Return the time (ns since the first frame) and the frame of everything that the sender sends.

        The probes go on until `end_s`. They leave before data frames of the same time.
        """
        sent = [
            (time_ns, frames.data(number, size - self.grown_bytes, ecn=self.ecn, records_hops=self.records_hops))
            for number, (time_ns, size) in enumerate(load.schedule(rate_bps))
        ]
        if not self.probe_interval_s:
            return sent
        times_s = [count * self.probe_interval_s for count in range(int(end_s / self.probe_interval_s) + 1)]
        probes = [(round(time_s * NS), frames.probe(PORTS_ON_THE_WAY)) for time_s in times_s]
        return sorted([*probes, *sent], key=lambda timed: timed[0])

    @property
    def probes_bps(self) -> float:
        """The rate of the probes as the first switch counts them: without the record that it adds."""
        return 8 * frames.PROBE_BYTES / self.probe_interval_s if self.probe_interval_s else 0.0


_EXERCISES = (
    Exercise("mri", ("swtrace", "add_swtrace"), records_hops=True, grown_bytes=frames.HOP_BYTES),
    Exercise("ecn", ecn=frames.ECT),
    Exercise("link_monitor", ("swid", "set_swid"), probe_interval_s=0.1),
)
EXERCISES: Mapping[str, Exercise] = {exercise.name: exercise for exercise in _EXERCISES}

FULL_BYTES, SHORT_BYTES = 1_000, 200
_LOAD_S = 3.0
_LOADS = (
    *(Load(f"{share:g}", (FULL_BYTES,), offered_share=share, duration_s=_LOAD_S) for share in (0.5, 0.9, 1.5)),
    Load("0.9, mixed sizes", (FULL_BYTES, SHORT_BYTES), offered_share=0.9, duration_s=_LOAD_S),
    *(Load(f"burst of {count}", (FULL_BYTES,), burst_frames=count) for count in (30, 50)),
)
LOADS: Mapping[str, Load] = {load.name: load for load in _LOADS}
"""The loads by name. A number is the offered rate as a share of the bottleneck's rate."""
RATES_BPS = (1_000_000, 5_000_000)
BUFFER_PACKETS = 64
"""The depth of a queue in BMv2, and in softswitch for a port whose rate comes from `tc`."""
