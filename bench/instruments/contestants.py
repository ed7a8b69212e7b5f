# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Simulators that carry the flows of a plan: ours and others. Each is measured as a whole command.

A contestant writes its input from the plan, runs, and must then deliver the messages of the plan: as many of each size.
The simulators of others are not part of the testbed; environment variables have their paths.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import ClassVar

import polars as pl

from sfc_testbed.request.spec import RunSpec
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.traffic.flow_file import FILE_NAME, write_flows
from sfc_testbed.simulators import hpcc
from sfc_testbed.simulators.htsim import traffic_matrix
from sfc_testbed.simulators.htsim_uec import HEADER_BYTES
from sfc_testbed.telemetry.reader import read_trace
from sfc_testbed.telemetry.schema import FLOWS
from sfc_testbed.testbed.plan.plan import RunPlan

_HERE = Path(__file__).resolve()
_RUNNER = _HERE.parents[2] / "runner.py"
_NS3_SCRIPT = _HERE.with_name("ns3_incast.py")
_LONGEST_S = 900
_MEASURE = """
import json, os, subprocess, sys
process = subprocess.Popen(sys.argv[2:])
_, status, usage = os.wait4(process.pid, 0)
json.dump([usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss], open(sys.argv[1], "w"))
sys.exit(os.waitstatus_to_exitcode(status))
"""
"""A small process that starts the command, because the memory of a process before `exec` counts as the command's."""
_WINDOW_PACKETS = 125
"""The BDP of the paper's network, in packets."""
_QUEUE_PACKETS = 1_000
"""Queue length in htsim. With its much shorter default, messages of an incast stay unfinished."""
_FINISHED = re.compile(r"finished at [\d.]+ total bytes (\d+)")
_UEC_FINISHED = re.compile(r"finished at [\d.]+ total messages \d+ total packets \d+ RTS \d+ total bytes (\d+)")


class RaceError(Exception):
    """A simulator failed or did not deliver all messages."""


@dataclass(frozen=True)
class Spent:
    """What a whole command took, with its start and end."""

    wall_s: float
    cpu_s: float
    peak_bytes: int = 0
    """The most memory of its largest process."""


class Contestant(ABC):
    """A simulator as a command."""

    name: str

    def race(self, plan: RunPlan, folder: Path) -> Spent:
        """Carry the flows of the plan once, in an empty folder. Raise RaceError unless all messages are delivered."""
        words = self.command(plan, folder)
        output, spent = _output(words, folder)
        try:
            delivered = Counter(self.delivered(output, folder))
        except (LookupError, OSError, TypeError, ValueError) as error:
            raise RaceError(f"{self.name} printed {output[-300:]!r}: {error}") from error
        expected = Counter(plan.columns.size_bytes.tolist())
        if delivered != expected:
            raise RaceError(
                f"{self.name} delivered {_messages_text(delivered)} of {_messages_text(expected)}, or other sizes"
            )
        return spent

    @abstractmethod
    def command(self, plan: RunPlan, folder: Path) -> list[str]:
        """Write the input files of a race and return its command."""

    @abstractmethod
    def delivered(self, output: str, folder: Path) -> Iterable[int]:
        """Return the bytes of each message that arrived."""


class Ours(Contestant):
    """`runner.py run`, with all its traces and its report."""

    def __init__(self, workers: int) -> None:
        self.name = "ours" if workers == 1 else f"ours, {workers} workers"
        self._workers = workers

    def command(self, plan: RunPlan, folder: Path) -> list[str]:
        words = shlex.split(plan.config.command)[1:]
        return [sys.executable, str(_RUNNER), *words, "--workers", str(self._workers), "--out", str(folder), "--json"]

    def delivered(self, output: str, folder: Path) -> Iterable[int]:
        result = json.loads(output)
        if result["flows"]["corrupted"]:
            raise ValueError(f"{result['flows']['corrupted']} messages are corrupted")
        (trace,) = folder.glob(f"*/{FLOWS.file_name}")
        return read_trace(trace, FLOWS).filter(pl.col("fct_us").is_not_null())["size_bytes"].to_list()


class Peer(Contestant):
    """A simulator that is not ours."""

    variable: ClassVar[str]
    """The environment variable with the path of its program."""

    def __init__(self, path: str) -> None:
        self._path = path


class Htsim(Peer):
    """htsim with NDP, on a Clos with one link rate."""

    name = "htsim"
    variable = "SFC_TESTBED_HTSIM_NDP"

    def command(self, plan: RunPlan, folder: Path) -> list[str]:
        (folder / "topology").write_text(htsim_topology(plan))
        (folder / "matrix").write_text(traffic_matrix(plan))
        words = [self._path, "-nodes", str(len(plan.topology.hosts)), "-topo", "topology", "-tm", "matrix"]
        words += ["-strat", "ecmp_ar", "-mtu", str(plan.transport.payload_bytes)]
        words += ["-cwnd", str(_WINDOW_PACKETS), "-q", str(_QUEUE_PACKETS)]
        return [*words, "-end", str(round(plan.config.duration_ms * 1000))]

    def delivered(self, output: str, folder: Path) -> Iterable[int]:
        return (int(size) for size in _FINISHED.findall(output))


class HtsimUec(Peer):
    """UEC's htsim with NSCC, in its default settings: packets take random paths, and switches trim them."""

    name = "htsim_uec"
    variable = "SFC_TESTBED_HTSIM_UEC"

    def command(self, plan: RunPlan, folder: Path) -> list[str]:
        (folder / "topology").write_text(htsim_topology(plan))
        (folder / "matrix").write_text(traffic_matrix(plan, starts_us=True))
        words = [self._path, "-topo", "topology", "-tm", "matrix"]
        words += ["-mtu", str(plan.transport.payload_bytes + HEADER_BYTES)]
        return [*words, "-end", str(round(plan.config.duration_ms * 1000))]

    def delivered(self, output: str, folder: Path) -> Iterable[int]:
        return (int(size) for size in _UEC_FINISHED.findall(output))


class Ns3(Peer):
    """ns-3 with TCP, because ns-3 includes no RoCEv2. Its messages begin together, without a window."""

    name = "ns-3"
    variable = "SFC_TESTBED_NS3_PYTHON"

    def command(self, plan: RunPlan, folder: Path) -> list[str]:
        shape = plan.topology.parameters
        numbers = [shape["tors"], shape["hosts_per_tor"], shape["spines"]]
        numbers += [len(plan.flows), plan.flows[0].size_bytes, plan.transport.payload_bytes]
        return [self._path, str(_NS3_SCRIPT), *map(str, numbers)]

    def delivered(self, output: str, folder: Path) -> Iterable[int]:
        return [int(size) for size in json.loads(output.splitlines()[-1])]


class HpccSimulator(Peer):
    """The HPCC simulator, whose recordings of packets and queues are off."""

    name = hpcc.NAME
    variable = hpcc.VARIABLE

    def command(self, plan: RunPlan, folder: Path) -> list[str]:
        return hpcc.write_input(plan, self._path, folder)

    def delivered(self, output: str, folder: Path) -> Iterable[int]:
        table = (folder / hpcc.FCT_FILE).read_text()
        return [flow.size_bytes for flow in hpcc.finished_flows(table)]


def htsim_topology(plan: RunPlan) -> str:
    """Return the Clos in the format of htsim's topology files."""
    shape, hosts = plan.topology.parameters, len(plan.topology.hosts)
    lines = [f"Nodes {hosts}", "Tiers 2", f"Podsize {hosts}", ""]
    lines += ["Tier 0", "Downlink_speed_Gbps 100", f"Radix_Down {shape['hosts_per_tor']}"]
    lines += [f"Radix_Up {shape['spines']}", "Downlink_Latency_ns 1000", ""]
    lines += ["Tier 1", "Downlink_speed_Gbps 100", f"Radix_Down {shape['tors']}", "Downlink_Latency_ns 1500"]
    return "\n".join([*lines, ""])


def permutation(hosts: int) -> Iterator[tuple[int, int]]:
    """Yield pairs in which each host is once a source and once a destination."""
    order = Random(1).sample(range(hosts), hosts)
    return zip(order, order[hosts // 2 :] + order[: hosts // 2], strict=True)


def listed(spec: RunSpec, flows: Sequence[FlowRequest], folder: Path) -> RunSpec:
    """Return a copy of the specification of a run whose flows are in a file in `folder`."""
    path = folder / FILE_NAME
    with path.open("w", encoding="utf-8") as out:
        write_flows(out, flows, None)
    return replace(spec, flow_file=path)


def data_packets(plan: RunPlan) -> int:
    """Return the number of data packets of all messages, without retransmissions."""
    return sum(-(-flow.size_bytes // plan.transport.payload_bytes) for flow in plan.flows)


def _messages_text(sizes: Counter[int]) -> str:
    total_bytes = sum(size * count for size, count in sizes.items())
    return f"{sizes.total()} messages ({total_bytes} bytes)"


def _output(words: Sequence[str], folder: Path) -> tuple[str, Spent]:
    """Run a command and return what it printed and what it took. RaceError if it fails."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    usage = folder / "usage.json"
    measured = [sys.executable, "-c", _MEASURE, str(usage), "timeout", str(_LONGEST_S), *words]
    began_s = time.perf_counter()
    done = subprocess.run(measured, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    wall_s = time.perf_counter() - began_s
    if done.returncode != 0:
        raise RaceError(f"{words[0]} ended with {done.returncode}: {(done.stderr or done.stdout)[-300:]}")
    cpu_s, peak_bytes = json.loads(usage.read_text())
    return done.stdout, Spent(wall_s, cpu_s, peak_bytes)
