# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Lossless packet rates of a bare forwarder, and of softswitch and BMv2 running the whole SFC program.

Each contestant forwards between two veth pairs, and the generator counts the frames that come out. The search runs
twice for each contestant. The better outcome counts, because other processes on the machine can only lower a rate.
"""

from __future__ import annotations

import shlex
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.instruments.benchmark import Benchmark, Figure, Target
from bench.instruments.lossless import LosslessRate, Trial, find_lossless_rate
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
from sfc_testbed.testbed.targets.bmv2.installation import simple_switch_on_path
from sfc_testbed.testbed.targets.common.commands import PROGRAM

FRAME_BYTES = 1058
"""A data frame of the default payload."""

_ROUNDS = 2
_TRIALS = 6
_TRIAL_SECONDS = 0.4
_FIRST_GUESS_PPS = 150_000
_NETWORK = (("source0", "in0"), ("out0", "sink0"))
_BMV2_QUEUE_PACKETS = 100_000
_START_SECONDS = 15.0
_THRIFT_PORT = 9090

Contestant = Callable[[Path], AbstractContextManager[int]]
"""Starts a contestant in a folder, and yields the ID of its process."""


@dataclass(frozen=True)
class Outcome:
    """The measured rate and CPU cost of one contestant."""

    rate: LosslessRate
    cpu_ns: float
    """CPU time of its threads per frame under overload, including the kernel's work for them."""

    def better(self, other: Outcome | None) -> Outcome:
        """Return the better of both outcomes. The rate stays: its search already started from the other's rate."""
        return self if other is None else Outcome(self.rate, min(self.cpu_ns, other.cpu_ns))


class SwitchBenchmark(Benchmark):
    """Rates and ratios. Needs root. BMv2 is left out when `simple_switch` is not on the PATH."""

    name = "switch"
    summary = "lossless packets/s: bare forwarder, softswitch and BMv2 with the SFC program"

    def run(self) -> list[Figure]:
        require_root()
        with tempfile.TemporaryDirectory(prefix="sfc-bench-") as folder, veth_pairs(_NETWORK):
            outcomes = _search_all(Path(folder), contestants())
        return _figures(outcomes)


def contestants() -> Mapping[str, Contestant]:
    """Return the contestants on this machine by name, in the order of measurement."""
    available: dict[str, Contestant] = {"forwarder": _forwarder, "softswitch": _softswitch}
    if simple_switch_on_path() and shutil.which("simple_switch_CLI"):
        available["BMv2"] = _bmv2
    return available


def _search_all(folder: Path, measured: Mapping[str, Contestant]) -> dict[str, Outcome]:
    outcomes: dict[str, Outcome] = {}
    for _ in range(_ROUNDS):
        for name, start in measured.items():
            known = outcomes.get(name)
            with start(folder) as pid:
                outcomes[name] = _search(folder, pid, known).better(known)
    return outcomes


def _search(folder: Path, pid: int, known: Outcome | None) -> Outcome:
    rate = known.rate if known else None
    offer = _Offer(folder, rate)
    before_ns = _cpu_ns(pid)
    carried = offer(0).received
    cpu_ns = (_cpu_ns(pid) - before_ns) / max(1, carried)
    return Outcome(find_lossless_rate(offer, _TRIALS, known=rate), cpu_ns)


def _cpu_ns(pid: int) -> int:
    """Return the CPU time of all threads of a process so far."""
    return sum(int(file.read_text().split()[0]) for file in Path(f"/proc/{pid}/task").glob("*/schedstat"))


class _Offer:
    """A callable that runs the generator once at the requested rate (0: unpaced) and returns the trial."""

    def __init__(self, folder: Path, known: LosslessRate | None) -> None:
        frames = data_frames(rack(), [FRAME_BYTES] * FLOWS)
        self._arguments = [tool("traffic"), "send", "source0", "sink0", write_frames(folder / "frames", frames)]
        self._unpaced_frames = int((known.overloaded_pps if known else _FIRST_GUESS_PPS) * _TRIAL_SECONDS)

    def __call__(self, rate_pps: int) -> Trial:
        frames = int(rate_pps * _TRIAL_SECONDS) or self._unpaced_frames
        result = answer([*self._arguments, str(rate_pps), str(frames)])
        return Trial(result["sent"], result["received"], result["send_ns"], result["drain_ns"])


def _figures(outcomes: Mapping[str, Outcome]) -> list[Figure]:
    figures = []
    for name, outcome in outcomes.items():
        note = f"{outcome.rate.overloaded_pps:,.0f} packets/s under overload, {outcome.cpu_ns:,.0f} ns of CPU each"
        if outcome.rate.is_generators:
            note += "; limited by the generator"
        figures.append(Figure(name, outcome.rate.pps, "packets/s", note=note))
    soft, bare = outcomes["softswitch"], outcomes["forwarder"]
    ratio, note = soft.rate.pps / bare.rate.pps, "upper bound: the generator limited the forwarder"
    note = note if bare.rate.is_generators else ""
    figures.append(Figure("softswitch / forwarder", ratio, target=Target(0.6, "at least"), note=note))
    figures.append(Figure("softswitch / forwarder by CPU time", bare.cpu_ns / soft.cpu_ns))
    if "BMv2" in outcomes:
        ratio = soft.rate.pps / outcomes["BMv2"].rate.pps
        figures.append(Figure("softswitch / BMv2", ratio, target=Target(10, "at least")))
        figures.append(Figure("softswitch / BMv2 by CPU time", outcomes["BMv2"].cpu_ns / soft.cpu_ns))
    return figures


@contextmanager
def _forwarder(folder: Path) -> Iterator[int]:
    with running([tool("forwarder"), "in0", "out0"]) as process:
        yield process.pid


@contextmanager
def _softswitch(folder: Path) -> Iterator[int]:
    lines = entries(rack(), sfc_settings()) + unlimited_wires()
    ports = {IN_PORT: "in0", OUT_PORT: "out0"}
    with running(softswitch_command(lines, folder / "softswitch-commands", ports)) as process:
        yield process.pid


@contextmanager
def _bmv2(folder: Path) -> Iterator[int]:
    """Start BMv2 with queues as deep as softswitch's, so that the packet processing is measured, not the queue.

    BMv2 reads the state of its ports from sysfs. sysfs shows the network namespace in which it was mounted, so it is
    mounted again here.
    """
    arguments = [simple_switch_on_path() or "", "--log-level", "off"]
    arguments += ["-i", f"{IN_PORT}@in0", "-i", f"{OUT_PORT}@out0", str(PROGRAM), "--", "--priority-queues", "8"]
    shell = f"mount -t sysfs sysfs /sys && exec {shlex.join(arguments)}"
    with running(["unshare", "--mount", "sh", "-c", shell], ready=None) as process:
        _wait_until_listening()
        lines = [f"set_queue_depth {_BMV2_QUEUE_PACKETS}", *entries(rack(), sfc_settings())]
        done = subprocess.run(
            ["simple_switch_CLI"],
            input="\n".join([*lines, ""]),
            capture_output=True,
            text=True,
            check=False,
            timeout=_START_SECONDS,
        )
        if done.returncode != 0 or "Error" in done.stdout or "Invalid" in done.stdout:
            raise RuntimeError(f"simple_switch_CLI: {(done.stderr or done.stdout).strip()[-300:]}")
        yield process.pid


def _wait_until_listening() -> None:
    """Wait for BMv2's default Thrift port, which is free because the network is private."""
    deadline = time.monotonic() + _START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", _THRIFT_PORT), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise RuntimeError("simple_switch does not listen") from None
            time.sleep(0.05)
