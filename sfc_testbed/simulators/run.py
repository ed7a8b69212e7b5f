# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs scenarios in our virtual clock and in another simulator, and compares the flows of each pair.

The results are in one folder: peer-validation.json, our run folders, and the simulator's input and output.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import polars as pl

from sfc_testbed.analysis.results.result import ResultError
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.place import STORED
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import FLOW_LIST, RunSpec
from sfc_testbed.simulators import conweave, hpcc, htsim, htsim_uec, powertcp
from sfc_testbed.simulators.comparison import (
    FILE_NAME,
    PeerFlow,
    PeerQueues,
    PeerRun,
    PeerValidation,
    compare_with_peer,
    mean_of,
    write_peer_validation,
)
from sfc_testbed.testbed.errors import Interrupted, RunError, UsageError
from sfc_testbed.testbed.execution.execute import execute
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.recording.folder import give_to_caller, make_folder
from sfc_testbed.testbed.recording.outcome import Silent


class Simulator(Protocol):
    """The names that each module about another simulator defines."""

    NAME: str
    VARIABLE: str
    """The environment variable with the path of its program."""
    FCT_FILE: str
    """The file into which it writes a line for each completed flow."""
    FCT_MARK: str
    """A text that only these lines of the file have; empty: the file has no other lines."""
    SCHEMES: tuple[str, ...]
    """The schemes that it simulates, for scenarios without `--schemes`."""

    def configuration(self, plan: RunPlan) -> Mapping[str, object]:
        """Return its configuration by key. Raise ValueError for what it does not simulate."""

    def write_input(self, plan: RunPlan, program: str, folder: Path) -> list[str]:
        """Write its input into a folder, and return the command to run there."""

    def finished_flows(self, table: str) -> Iterator[PeerFlow]:
        """Yield the flows of the FCT file."""


class Sampling(NamedTuple):
    """A simulator's functions for runs in which it samples its queues."""

    write_input: Callable[[RunPlan, str, Path], list[str]]
    """Does what `Simulator.write_input` does, and lets the simulator sample its queues."""
    queues_in: Callable[[Path], PeerQueues | None]
    """Returns the queues that it has written into a folder; None until it has written all."""


PEERS: Mapping[str, Simulator] = {
    "hpcc-simulator": hpcc,
    "conweave-simulator": conweave,
    "powertcp-simulator": powertcp,
    "htsim": htsim,
    "htsim-uec": htsim_uec,
}
"""The simulators by the name that `--peer` takes."""
SAMPLINGS: Mapping[str, Sampling] = {hpcc.NAME: Sampling(partial(hpcc.write_input, has_queues=True), hpcc.queues_in)}
"""The functions of the simulators that can sample their queues, by name."""
UPLINKS: Mapping[str, Callable[[Path], pl.DataFrame]] = {
    conweave.NAME: conweave.uplinks_in,
    htsim_uec.NAME: htsim_uec.uplinks_in,
}
"""The functions that read the bytes of uplinks over time, by the name of a simulator that ends by itself."""

_PAYLOAD = "transport.payload_bytes=1000"
"""The payload of the paper and of the simulator; scale ci has 4,000 B."""
_UNIQUE_PATHS = ("topology.tors=8", "topology.hosts_per_tor=4", "topology.spines=1")
_BUFFER = "switch.buffer_bytes=33554432"
"""32 MiB, as the paper's switches have; the simulator's buffer is in whole MiB."""
_SMALL_BUFFER = "switch.buffer_bytes=2097152"
_ONE_RECEIVER = ("topology.spines=1", "placement=spread", "receiver=h1")
_INCAST_OF_64 = ("topology.tors=8", "topology.hosts_per_tor=16", "degree=64", *_ONE_RECEIVER)
_PERMUTATION = STORED / "permutation-128.csv"
"""A flow from each of 128 hosts to another one in another rack of eight, and one to each host."""
_SEEDS = 3
"""The seeds of a case with load balancing: with few flows, a seed decides which paths are crowded."""
_POLL_S = 0.2
_LONGEST_S = 1_800.0

Tell = Callable[[str], None]


@dataclass(frozen=True)
class PeerCase:
    """A scenario to be carried by both simulators."""

    label: str
    request: RunSpec
    has_queues: bool = True
    """Whether the peer samples its queues, if it can. This takes long in large networks."""
    seeds: int = 1
    """The number of seeds, from that of the request, whose figures are averaged."""


def standard_cases(peer: str) -> list[PeerCase]:
    """Return the cases of docs/validation.md for a simulator. UsageError, with the known names, if it is unknown."""
    simulator_of(peer)
    return _CASES[peer]()


def _cases_of_hpcc() -> list[PeerCase]:
    """Return the cases without loss, and an incast in which switches pause each other all the time."""
    pauses = [
        case_of(
            "incast", scheme, "ci", (*_INCAST_OF_64, _SMALL_BUFFER), label=f"64:1 incast, 128 hosts, 2 MiB, {scheme}"
        )
        for scheme in hpcc.SCHEMES
    ]
    return [*_cases_without_loss(hpcc.SCHEMES), *pauses]


def _cases_of_powertcp() -> list[PeerCase]:
    cases = _cases_without_loss(powertcp.SCHEMES, powertcp.PARAMETERS)
    return [case for case in cases if case.request.scale == "ci"]


def _cases_without_loss(schemes: Sequence[str], settings: Sequence[str] = ()) -> list[PeerCase]:
    """Return incasts, and Hadoop with and without ECMP, and on the paper's network."""
    small = ("topology.tors=4", "topology.hosts_per_tor=8", "degree=16", *_ONE_RECEIVER, _BUFFER)
    large = (*_INCAST_OF_64, _BUFFER)
    paper = ("arrivals_us=400", "warmup_us=0", "cooldown_us=0", _BUFFER)
    works: Sequence[tuple[str, str, str, Sequence[str]]] = (
        ("16:1 incast, 32 hosts", "incast", "ci", small),
        ("64:1 incast, 128 hosts", "incast", "ci", large),
        ("hadoop-50, 32 hosts, one spine", "hadoop-50", "ci", (*_UNIQUE_PATHS, _BUFFER, _PAYLOAD)),
        ("hadoop-50, 32 hosts, four spines (ECMP)", "hadoop-50", "ci", (_BUFFER, _PAYLOAD)),
        ("hadoop-50, 512 hosts, 400 us", "hadoop-50", "paper", paper),
    )
    return [
        case_of(
            scenario,
            scheme,
            scale,
            (*words, *settings),
            label=f"{label}, {scheme}",
            has_queues=scale != "paper",
        )
        for label, scenario, scale, words in works
        for scheme in schemes
    ]


def _cases_on_a_fat_tree() -> list[PeerCase]:
    """Return incasts of different degrees, and one with longer flows."""
    settings = (
        *htsim.NETWORK,
        htsim.PARAMETERS,
        *("placement=spread", "receiver=h1", "window_us=0", "switch.buffer_bytes=null", "transport.payload_bytes=4000"),
    )
    return [
        case_of(
            "incast",
            scheme,
            "ci",
            (f"degree={degree}", f"message_bytes={size_bytes}", *settings),
            label=f"{degree}:1 incast of {size_bytes // 1000:,} KB, fat tree of 128 hosts, {scheme}",
            topology="three-tier",
        )
        for degree, size_bytes in ((16, 248_000), (64, 248_000), (127, 248_000), (64, 1_000_000))
        for scheme in htsim.SCHEMES
    ]


def _cases_with_loss() -> list[PeerCase]:
    """Return an incast, and Hadoop on unique paths, with buffers in which packets are dropped.

    The switch in which queues form has 17 ports with the incast (its last ToR), and 32 with Hadoop (the spine).
    """
    buffer_of = conweave.shared_bytes
    incast = ("topology.tors=8", "topology.hosts_per_tor=16", "degree=64", "placement=spread", "receiver=h1")
    racks = ("topology.tors=32", "topology.hosts_per_tor=1")
    works: Sequence[tuple[str, str, Sequence[str]]] = (
        ("64:1 incast, 128 hosts, 4 MiB", "incast", (*incast, f"switch.buffer_bytes={buffer_of(4, ports=17)}")),
        (
            "hadoop-50, 32 racks of a host, 2 MiB",
            "hadoop-50",
            (*racks, f"switch.buffer_bytes={buffer_of(2, ports=32)}"),
        ),
    )
    return [
        case_of(
            scenario,
            scheme,
            "ci",
            (*words, "topology.spines=1", *conweave.NETWORK, *timeouts),
            label=f"{label}, {scheme}",
        )
        for label, scenario, words in works
        for scheme in conweave.SCHEMES
        for timeouts in (conweave.TIMEOUTS[scheme.partition("+")[0]],)
    ]


def _cases_of_conweave() -> list[PeerCase]:
    """Return the cases with loss, and Hadoop under each load balancing of its ToRs, without loss."""
    network = ("topology.tors=4", "topology.hosts_per_tor=8", "topology.spines=4", *conweave.NETWORK)
    works: Sequence[tuple[str, Sequence[str], Sequence[str]]] = (
        ("hadoop at 40 %", ("load=0.4", "arrivals_us=2000"), ("ecmp", "flowlet", "conga", "drill")),
        ("rpc at 40 %", ("sizes=rpc", "load=0.4", "arrivals_us=200"), ("ecmp", "drill")),
    )
    buffer = f"switch.buffer_bytes={conweave.shared_bytes(32, ports=12)}"
    balanced = [
        case_of(
            "datacentre",
            "irn+dcqcn",
            "ci",
            (*words, "incast_load=0", *network, *conweave.TIMEOUTS["irn"], *conweave.LOAD_BALANCING[name], buffer),
            label=f"{label}, 32 hosts, four spines, {name}",
            load_balancing=name,
        )
        for label, words, names in works
        for name in names
    ]
    return [*_cases_with_loss(), *(replace(case, seeds=_SEEDS) for case in balanced)]


def _cases_of_htsim_uec() -> list[PeerCase]:
    """Return a permutation of 128 hosts in different racks, under load balancings of hosts and switches."""
    cases = [
        case_of(
            FLOW_LIST,
            htsim_uec.SCHEMES[0],
            "ci",
            ("topology.tors=16", "topology.hosts_per_tor=8", "topology.spines=8", *htsim_uec.NETWORK),
            label=f"permutation of 10 MB, 128 hosts, eight spines, {name}",
            topology="clos",
            load_balancing=name,
            flow_file=_PERMUTATION,
        )
        for name in ("reps", "oblivious", "adaptive")
    ]
    return [replace(case, seeds=_SEEDS) for case in cases]


_CASES: Mapping[str, Callable[[], list[PeerCase]]] = {
    "hpcc-simulator": _cases_of_hpcc,
    "conweave-simulator": _cases_of_conweave,
    "powertcp-simulator": _cases_of_powertcp,
    "htsim": _cases_on_a_fat_tree,
    "htsim-uec": _cases_of_htsim_uec,
}
"""The cases of docs/validation.md by the name of the simulator."""


def case_of(
    scenario: str,
    scheme: str,
    scale: str,
    words: Sequence[str],
    *,
    label: str = "",
    seed: int | None = None,
    topology: str | None = None,
    load_balancing: str | None = None,
    has_queues: bool = True,
    flow_file: Path | None = None,
) -> PeerCase:
    """Return the case of one scenario with settings such as `degree=16`."""
    settings = parse_settings(words)
    request = RunSpec(
        scenario,
        scheme=scheme,
        load_balancing=load_balancing,
        scale=scale,
        clock="virtual",
        topology=topology,
        settings=settings,
        seed=seed or 1,
        flow_file=flow_file,
    )
    return PeerCase(label or " ".join([scenario, request.variant, scale, *words]), request, has_queues=has_queues)


def validate_with_peer(
    peer: str, cases: Sequence[PeerCase], name: str, out: Path, tell: Tell
) -> tuple[PeerValidation, Path]:
    """Run all cases and return the comparisons and their folder; a failed case is a line in `failures`.

    The comparisons so far are written after each case. Raises UsageError, before anything starts, if the simulator's
    environment variable is not set or it does not simulate a case's scheme, and Interrupted with what is kept.
    """
    simulator = simulator_of(peer)
    program = os.environ.get(simulator.VARIABLE)
    if not program or not os.access(program, os.X_OK):
        raise UsageError(
            f"--peer {peer}: set {simulator.VARIABLE} to the path of its program (docs/validation.md); it is "
            + (f"{program!r}, which cannot be executed" if program else "not set")
        )
    plans = [plan_run(case.request) for case in cases]
    for plan in plans:
        try:
            simulator.configuration(plan)
        except ValueError as error:
            raise UsageError(f"--peer {peer}: {error}") from error
    folder = make_folder(out.absolute(), f"{name}-peer-validation")
    (folder / "logs").rmdir()
    runs: list[PeerRun] = []
    failures: list[str] = []
    validation = PeerValidation(peer=simulator.NAME, runs=())
    for number, (case, plan) in enumerate(zip(cases, plans, strict=True), 1):
        tell(f"{number}/{len(cases)} {case.label}")
        try:
            runs.append(_compared_seeds(simulator, case, plan, program, folder / f"peer-{number}"))
        except KeyboardInterrupt as error:
            raise Interrupted(f"{len(runs)} of {len(cases)} comparisons are in {folder}") from error
        except (ResultError, RunError, OSError, ValueError) as error:
            failures.append(f"{case.label}: {error}")
        validation = PeerValidation(peer=simulator.NAME, runs=tuple(runs), failures=tuple(failures))
        write_peer_validation(folder / FILE_NAME, validation)
        give_to_caller(folder)
    return validation, folder


def simulator_of(peer: str) -> Simulator:
    """Return the simulator of this name. UsageError, with the known names, if there is none."""
    if peer not in PEERS:
        raise UsageError(f"--peer: unknown simulator {peer!r}; choose from {', '.join(PEERS)}")
    return PEERS[peer]


def _compared_seeds(simulator: Simulator, case: PeerCase, plan: RunPlan, program: str, folder: Path) -> PeerRun:
    """Return the comparison of a case, whose folders are `folder`, `folder`-2 and so on, as a mean over its seeds."""
    runs = [_compared(simulator, case, plan, program, folder)]
    for number in range(2, case.seeds + 1):
        request = replace(case.request, seed=case.request.seed + number - 1)
        runs.append(_compared(simulator, case, plan_run(request), program, folder.with_name(f"{folder.name}-{number}")))
    return mean_of(runs) if len(runs) > 1 else runs[0]


def _compared(simulator: Simulator, case: PeerCase, plan: RunPlan, program: str, folder: Path) -> PeerRun:
    folder.mkdir()
    uplinks_in = UPLINKS.get(simulator.NAME)
    sampling = SAMPLINGS.get(simulator.NAME) if case.has_queues else None
    flows, queues = _simulated(simulator, plan, program, folder, sampling, ends=uplinks_in is not None)
    ours = execute(plan, folder.parent, Silent(), page=False)
    if ours.interrupted:
        raise KeyboardInterrupt
    uplinks = None if uplinks_in is None else uplinks_in(folder)
    return compare_with_peer(load_run(ours.folder), case.label, flows, queues, peer=simulator.NAME, uplinks=uplinks)


def _simulated(
    simulator: Simulator, plan: RunPlan, program: str, folder: Path, sampling: Sampling | None, *, ends: bool
) -> tuple[list[PeerFlow], PeerQueues | None]:
    """Let the simulator carry a plan. Raises ValueError if it fails or does not complete all flows in half an hour.

    Unless it `ends` by itself, it is ended once it has written everything: the timers of its finished flows go on, and
    would take minutes.
    """
    words = (sampling or simulator).write_input(plan, program, folder)
    deadline_s = time.monotonic() + _LONGEST_S
    with (folder / "output.txt").open("w") as output:
        process = subprocess.Popen(words, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        try:
            while process.poll() is None and (ends or not _is_complete(simulator, folder, len(plan.flows), sampling)):
                if time.monotonic() > deadline_s:
                    raise ValueError(f"the simulator did not complete all flows in {_LONGEST_S / 60:.0f} minutes")
                time.sleep(_POLL_S)
        finally:
            process.kill()
            process.wait()
    if not (folder / simulator.FCT_FILE).exists():
        last = (folder / "output.txt").read_text(errors="replace").splitlines()[-1:]
        raise ValueError(f"the simulator wrote no FCTs; its last line is {''.join(last)!r}")
    flows = list(simulator.finished_flows((folder / simulator.FCT_FILE).read_text()))
    return flows, sampling.queues_in(folder) if sampling else None


def _is_complete(simulator: Simulator, folder: Path, flows: int, sampling: Sampling | None) -> bool:
    with suppress(FileNotFoundError):
        lines = (folder / simulator.FCT_FILE).read_text().splitlines(keepends=True)
        finished = sum(line.endswith("\n") and simulator.FCT_MARK in line for line in lines)
        return finished >= flows and (sampling is None or sampling.queues_in(folder) is not None)
    return False
