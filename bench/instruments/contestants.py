# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs one incast in htsim and in ns-3, whose paths come from environment variables, and checks that all bytes arrive.

The CPU time of htsim covers the whole process, including the short set-up of the network. The CPU time of ns-3 covers
only the simulation.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HTSIM_VARIABLE = "SFC_TESTBED_HTSIM"
"""Environment variable with the path of `htsim_ndp`."""
NS3_VARIABLE = "SFC_TESTBED_NS3_PYTHON"
"""Environment variable with the path of a Python interpreter that has the ns-3 wheel installed."""

_NS3_SCRIPT = Path(__file__).resolve().with_name("ns3_incast.py")
_LONGEST_S = 900.0
_WINDOW_PACKETS = 125
"""The BDP of the paper's network, in packets."""
_QUEUE_PACKETS = 1_000
"""Queue length in htsim. With its much shorter default, messages of this incast stay unfinished."""
_END_US = 40_000
_FINISHED = re.compile(r"finished at [\d.]+ total bytes (\d+)")


@dataclass(frozen=True)
class Race:
    """An incast: one message from each of `senders` hosts to the first host, over a Clos with 100 Gb/s links."""

    senders: int = 64
    message_bytes: int = 250_000
    payload_bytes: int = 1_000
    tors: int = 8
    hosts_per_tor: int = 16
    spines: int = 16

    @property
    def hosts(self) -> int:
        return self.tors * self.hosts_per_tor

    @property
    def data_packets(self) -> int:
        """The number of packets to deliver, without retransmissions."""
        return self.senders * self.message_bytes // self.payload_bytes

    def sender(self, number: int) -> int:
        """Return the host, counted from 0, of a sender. Senders are spread evenly and exclude the receiver, host 0."""
        return 1 + number * (self.hosts - 1) // self.senders


class RaceError(Exception):
    """A simulator failed or did not deliver all bytes."""


def htsim_cpu_s(binary: str, race: Race) -> float:
    """Return the CPU time of htsim with NDP, in seconds. Raise RaceError when it fails or bytes are missing."""
    with tempfile.TemporaryDirectory(prefix="sfc-bench-") as name:
        folder = Path(name)
        (folder / "topology").write_text(htsim_topology(race))
        (folder / "matrix").write_text(htsim_matrix(race))
        words = [binary, "-nodes", str(race.hosts), "-topo", "topology", "-tm", "matrix", "-strat", "ecmp_ar"]
        words += ["-mtu", str(race.payload_bytes), "-cwnd", str(_WINDOW_PACKETS), "-q", str(_QUEUE_PACKETS)]
        words += ["-end", str(_END_US)]
        before_s = _children_cpu_s()
        output = _output(words, folder)
        spent_s = _children_cpu_s() - before_s
    delivered = sum(int(size) for size in _FINISHED.findall(output))
    _require_delivered("htsim", delivered, race)
    return spent_s


def ns3_cpu_s(python: str, race: Race) -> float:
    """Return the CPU time of ns-3 with TCP, in seconds. Raise RaceError when it fails or bytes are missing."""
    numbers = (race.tors, race.hosts_per_tor, race.spines, race.senders, race.message_bytes, race.payload_bytes)
    with tempfile.TemporaryDirectory(prefix="sfc-bench-") as name:
        output = _output([python, str(_NS3_SCRIPT), *map(str, numbers)], Path(name))
    try:
        result = json.loads(output.splitlines()[-1])
        received_bytes, cpu_ns = int(result["received_bytes"]), int(result["cpu_ns"])
    except (LookupError, TypeError, ValueError) as error:
        raise RaceError(f"ns-3 printed {output[-300:]!r}") from error
    _require_delivered("ns-3", received_bytes, race)
    return cpu_ns / 1e9


def htsim_topology(race: Race) -> str:
    """Return the Clos in the format of htsim's topology files."""
    lines = [f"Nodes {race.hosts}", "Tiers 2", f"Podsize {race.hosts}", ""]
    lines += ["Tier 0", "Downlink_speed_Gbps 100", f"Radix_Down {race.hosts_per_tor}", f"Radix_Up {race.spines}"]
    lines += ["Downlink_Latency_ns 1000", "", "Tier 1", "Downlink_speed_Gbps 100", f"Radix_Down {race.tors}"]
    return "\n".join([*lines, "Downlink_Latency_ns 1500", ""])


def htsim_matrix(race: Race) -> str:
    """Return the flows in the format of htsim's traffic matrices."""
    flows = [f"{race.sender(number)}->0 start 0 size {race.message_bytes}" for number in range(race.senders)]
    return "\n".join([f"Nodes {race.hosts}", f"Connections {race.senders}", *flows, ""])


def _children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _output(words: Sequence[str], folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        done = subprocess.run(
            words, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=_LONGEST_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RaceError(str(error)) from error
    if done.returncode != 0:
        raise RaceError(f"{words[0]} ended with {done.returncode}: {(done.stderr or done.stdout)[-300:]}")
    return done.stdout


def _require_delivered(simulator: str, delivered_bytes: int, race: Race) -> None:
    total_bytes = race.senders * race.message_bytes
    if delivered_bytes != total_bytes:
        raise RaceError(f"{simulator} delivered {delivered_bytes} of {total_bytes} bytes")
