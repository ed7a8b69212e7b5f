# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The public functions. docs/api.md describes them with examples; options mean the same as those of the command line.

Importing this module loads nothing slow. A function compiles the engine, if that is necessary, before it loads it.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sfc_testbed.api.forks import check_not_forked
from sfc_testbed.native.first_use import prepare_library
from sfc_testbed.request.arguments import checked_call

if TYPE_CHECKING:
    from sfc_testbed.api.comparison import Comparison
    from sfc_testbed.api.run import Run
    from sfc_testbed.api.sweep import Sweep
    from sfc_testbed.contract.extension import Checked
    from sfc_testbed.reproduction.model.experiment import Claim
    from sfc_testbed.request.spec import RunSpec
    from sfc_testbed.testbed.live.session.session import LiveSession

PathLike = str | os.PathLike[str]
Clock = Literal["virtual", "real"]


@checked_call
def run(
    scenario: str | None = None,
    scheme: str = "sfc",
    *,
    clock: Clock = "virtual",
    scale: str = "ci",
    seed: int | str = 1,
    settings: Mapping[str, Any] | None = None,
    load_balancing: str | None = None,
    topology: str | None = None,
    duration_ms: float | str | None = None,
    flows: Any = None,
    faults: str | Sequence[str] = (),
    switch: str = "auto",
    p4: PathLike | None = None,
    dilation: int | str | None = None,
    retry: bool = False,
    pcap: str | Sequence[str] = (),
    background: str | None = None,
    hosts: str | None = None,
    workers: int | str | None = None,
    use: PathLike | Iterable[PathLike] = (),
    out: PathLike = "runs",
    quiet: bool = False,
) -> Run:
    """Run a scenario once, write its folder in `out`, and return the run.

    A run that is late, invalid or unfinished is a result, which `Run.verdict` describes. `sfc.names` lists scenarios,
    schemes and topologies.

    - scenario: the workload; None if `flows` replaces it.
    - scheme: flow control and loss recovery, then optionally `+` and a congestion control: "irn+dctcp".
    - clock: "virtual" simulates and needs no root; "real" runs live on Mininet, as root.
    - scale: size of network and traffic: "ci", "laptop" or "paper".
    - seed: random seed, a whole number of at least 0.
    - settings: values by the keys of `--set`, such as {"degree": 8, "switch.q_th_bytes": "250KB"}.
    - load_balancing: the distribution over equal-cost paths, such as "spray"; None: the scheme's own.
    - topology: the network instead of the scenario's.
    - duration_ms: longest simulated time, in ms or as text such as "4ms"; None: the scenario's.
    - flows: a file, rows (source, destination, bytes, start in ns, tag), or a data frame with such columns.
    - faults: one or several, such as "loss:all,rate=1%".
    - switch: "soft", "bmv2", or "auto" for soft.
    - p4: a P4 program, FILE.p4 or PROGRAM.json, or the name of an extension's; None: the testbed's.
    - dilation: how much slower than the model a live run is; None: chosen for this machine.
    - retry: whether a live run that was late is repeated more slowly.
    - pcap: places where packets are captured, such as "h1" or "tor2:1".
    - background: "iperf3" to send other traffic too.
    - hosts: "docker:IMAGE" for hosts in containers.
    - workers: processes of a virtual run; None: the fastest number.
    - use: files of yours that add names, as in `sfc.use`.
    - out: folder for run folders.
    - quiet: whether progress is hidden.

    Raises UsageError for bad input, RunError for a failed run, and Interrupted after Ctrl-C.
    """
    _begin(use)
    from sfc_testbed.api.calls import run_once
    from sfc_testbed.api.requests import folder_of

    request = _request(
        scenario,
        scheme=scheme,
        load_balancing=load_balancing,
        clock=clock,
        scale=scale,
        seed=seed,
        settings=settings,
        topology=topology,
        duration_ms=duration_ms,
        flows=flows,
        faults=faults,
        switch=switch,
        dilation=dilation,
        captures=pcap,
        background=background,
        hosts=hosts,
    )
    program = None if p4 is None else os.fspath(p4)
    return run_once(request, flows, folder_of(out), p4=program, workers=workers, retry=retry, quiet=quiet)


@checked_call
def compare(
    scenario: str | None = None,
    schemes: str | Iterable[str] = ("irn", "sfc"),
    *,
    clock: Clock = "virtual",
    scale: str = "ci",
    seeds: int | str | Iterable[int] = 1,
    settings: Mapping[str, Any] | None = None,
    load_balancing: str | Iterable[str] | None = None,
    topology: str | None = None,
    duration_ms: float | str | None = None,
    flows: Any = None,
    faults: str | Sequence[str] = (),
    switch: str = "auto",
    p4: PathLike | Sequence[PathLike] = (),
    claims: PathLike | Sequence[Claim] | None = None,
    dilation: int | str | None = None,
    retry: bool = False,
    hosts: str | None = None,
    jobs: int = 1,
    use: PathLike | Iterable[PathLike] = (),
    out: PathLike = "runs",
    quiet: bool = False,
) -> Comparison:
    """Run the same flows under several schemes, load balancings, seeds and P4 programs, and return the comparison.

    Arguments that `run` has too mean the same.

    - schemes: a list, or a text such as "irn,sfc". Ratios are relative to the first.
    - load_balancing: one or several, such as "ecmp,spray"; every scheme runs with each. None: each scheme's own.
    - seeds: one number, several, or a text such as "1..5".
    - p4: one program or several; every scheme runs with every program, and "built-in" is the testbed's.
    - claims: a file or a list of claims about the runs, such as `sfc.Ratio`.
    - jobs: virtual runs that run at the same time, each in a process of its own.

    Raises the same errors as `run`.
    """
    _begin(use)
    from sfc_testbed.api.calls import compare_all
    from sfc_testbed.api.requests import folder_of, jobs_of, load_balancings_of, schemes_of, seeds_of

    request = _request(
        scenario,
        clock=clock,
        scale=scale,
        settings=settings,
        topology=topology,
        duration_ms=duration_ms,
        flows=flows,
        faults=faults,
        switch=switch,
        dilation=dilation,
        hosts=hosts,
    )
    programs = [p4] if isinstance(p4, (str, os.PathLike)) else p4
    return compare_all(
        request,
        flows,
        folder_of(out),
        schemes=schemes_of(schemes),
        load_balancings=load_balancings_of(load_balancing),
        seeds=seeds_of(seeds),
        programs=[os.fspath(program) for program in programs],
        claims=Path(claims) if isinstance(claims, (str, os.PathLike)) else claims,
        jobs=jobs_of(jobs) or 1,
        retry=retry,
        quiet=quiet,
    )


@checked_call
def sweep(
    source: PathLike | Mapping[str, Any],
    *,
    p4: PathLike | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    use: PathLike | Iterable[PathLike] = (),
    out: PathLike = "runs",
    quiet: bool = False,
) -> Sweep:
    """Run every combination of the settings in a YAML file, or in a mapping with its keys, and return the results.

    Runs that are complete in the sweep's folder are not repeated. Arguments that `run` has too mean the same.

    - source: the file, or a mapping with the keys name, scenario, schemes, seeds, axes and more (docs/workloads.md).
    - jobs: virtual runs that run at the same time; None: one per core.
    - scheduler: address of a Dask scheduler, whose workers run the jobs instead.

    Raises the same errors as `run`; a job that fails is named in `Sweep.failures`.
    """
    _begin(use)
    from sfc_testbed.api.calls import sweep_all
    from sfc_testbed.api.requests import folder_of, jobs_of

    chosen = source if isinstance(source, Mapping) else Path(source)
    program = None if p4 is None else os.fspath(p4)
    return sweep_all(chosen, folder_of(out), p4=program, jobs=jobs_of(jobs), scheduler=scheduler, quiet=quiet)


@checked_call
@contextmanager
def open_network(
    topology: str = "clos",
    *,
    scheme: str = "sfc",
    switch: str = "auto",
    dilation: int | str = 10_000,
    settings: Mapping[str, Any] | None = None,
    load_balancing: str | None = None,
    hosts: str | None = None,
    p4: PathLike | None = None,
    use: PathLike | Iterable[PathLike] = (),
) -> Iterator[LiveSession]:
    """Provide a live network on Mininet, as root, and remove it at the end of the `with` statement.

    Arguments that `run` has too mean the same. `topology` has settings too, such as {"topology.hosts_per_tor": 4}, and
    `dilation` is how much slower than the model the network is. The network is a `sfc.Network`.

    Raises UsageError if this machine or user cannot run such a network, or if the process has one already.
    """
    _begin(use)
    from sfc_testbed.api.calls import live_session
    from sfc_testbed.testbed.program.user_program import read_program

    request = _request(
        "none",
        scheme=scheme,
        load_balancing=load_balancing,
        clock="real",
        switch=switch,
        dilation=dilation,
        settings=settings,
        topology=topology,
        hosts=hosts,
        program=read_program(None if p4 is None else os.fspath(p4)),
    )
    with live_session(request) as session:
        yield session


@checked_call
def load(folder: PathLike) -> Run | Comparison | Sweep:
    """Return the stored results in a folder: a run, a comparison or a sweep. UsageError if it holds none.

    Files are read when they are first needed. Runs of older releases can be loaded, too.
    """
    from sfc_testbed.api.loading import loaded

    return loaded(Path(folder))


@checked_call
def use(*files: PathLike) -> None:
    """Load Python files, or modules of installed packages, that add names to the testbed (docs/extensions.md).

    A file that has changed since it was loaded is loaded again. The files stay in use until `sfc.unuse`. UsageError,
    one line, if one cannot be loaded.
    """
    _begin(files)


@checked_call
def check(file: PathLike) -> tuple[Checked, ...]:
    """Load a file as `use` does, and return the checks of all that it adds: what, check, and lack (None if it holds).

    These are the contract tests of the testbed's own classes. UsageError if the file adds nothing that has a contract.
    """
    _begin(file)
    from sfc_testbed.api.errors import public_errors
    from sfc_testbed.contract.extension import checked
    from sfc_testbed.request.extensions import use as load_files

    with public_errors():
        [extension] = load_files(os.fspath(file))
        return tuple(checked(extension))


@checked_call
def names(kind: str) -> dict[str, str]:
    """Return all names of a kind and their meanings, with those of the extensions in use.

    The kinds are scenarios, schemes, congestion controls, load balancings, switch programs (with their files), faults,
    topologies, quantities (with their units) and export formats. UsageError for another kind.
    """
    _begin(())
    from sfc_testbed.api.catalogue import names_of

    return names_of(kind)


@checked_call
def run_script(main: Callable[[], object]) -> int:
    """Run the main function of a script, and return the exit code that the command would have.

    An error is one line on stderr: `sys.exit(sfc.run_script(main))`.
    """
    from sfc_testbed.testbed.errors import RunError, UsageError

    try:
        main()
    except UsageError as error:
        return _ended(str(error), 2)
    except RunError as error:
        return _ended(str(error), 3)
    except KeyboardInterrupt as error:
        return _ended(f"interrupted: {error}" if str(error) else "interrupted", 130)
    return 0


def _ended(reason: str, status: int) -> int:
    print(f"{sys.argv[0]}: {reason}", file=sys.stderr)
    return status


def _begin(files: PathLike | Iterable[PathLike]) -> None:
    """Compile the engine if necessary, and load the extensions of installed packages and these."""
    check_not_forked()
    prepare_library()
    from sfc_testbed.api.errors import public_errors
    from sfc_testbed.request.extensions import load_installed
    from sfc_testbed.request.extensions import use as load_files

    with public_errors():
        for problem in load_installed():
            warnings.warn(problem, stacklevel=4)
        load_files(*(os.fspath(file) for file in ([files] if isinstance(files, (str, os.PathLike)) else files)))


def _request(scenario: str | None, **values: Any) -> RunSpec:
    """Return the request of these values. UsageError, one line, for bad ones."""
    from sfc_testbed.api.errors import public_errors
    from sfc_testbed.api.requests import request_of

    with public_errors():
        return request_of(scenario, **values)
