# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The contracts of topologies and scenarios, and of whole runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from os_helpers.temporary import temporary_folder
from sfc_testbed.analysis.results.quantities import NotMeasured
from sfc_testbed.analysis.results.stored import Run, load_run
from sfc_testbed.contract.broken import require
from sfc_testbed.place import TEMPORARY
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.scenarios.model.scenario import ScaleName
from sfc_testbed.testbed.execution.execute import execute
from sfc_testbed.testbed.execution.programs import build_programs
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.program.user_program import read_program
from sfc_testbed.testbed.recording.outcome import Silent
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.routes import Paths
from sfc_testbed.topologies.shapes import shape

_FEWEST_HOSTS = 2


def builds_from_its_defaults(name: str) -> None:
    """A topology builds without settings, twice the same, with addresses and ports as the routes need them."""
    built, again = shape(name, {}).build(), shape(name, {}).build()
    require(isinstance(built, Topology), f"build() returned {type(built).__name__}, not a Topology")
    require(built == again, "build() gives another network when it is called again")
    require(built.name == name, f"the network is called {built.name!r}")
    require(len(built.hosts) >= _FEWEST_HOSTS, f"number of hosts: {len(built.hosts)}; a flow needs two")
    addresses = {host.ip for host in built.hosts} | {host.mac for host in built.hosts}
    require(len(addresses) == 2 * len(built.hosts), "two hosts have the same address")
    for switch, ports in built.ports.items():
        numbers = [port.number for port in ports]
        require(numbers == list(range(1, len(ports) + 1)), f"ports of {switch} are not numbered from 1: {numbers}")
    for host in built.hosts:
        prefix = built.switch[host.switch].prefix
        require(prefix is not None and host.ip in prefix, f"{host.name} is not in the prefix of {host.switch}")


def connects_all_hosts(name: str) -> None:
    """There is a path from the first host to each other host, and back."""
    built = shape(name, {}).build()
    paths, first = Paths(built), built.hosts[0].name
    for other in (host.name for host in built.hosts[1:]):
        for source, destination in ((first, other), (other, first)):
            require(bool(paths.between(source, destination)), f"there is no path from {source} to {destination}")


def can_be_planned(scenario: str, scale: ScaleName) -> None:
    """A scenario makes valid flows at a scale, and the same ones for the same seed."""
    request = RunSpec(scenario, "irn", clock="virtual", scale=scale)
    first, second = plan_run(request), plan_run(request)
    require(len(first.flows) > 0, f"at scale {scale} there are no flows")
    is_same = list(first.flows) == list(second.flows)
    require(is_same, f"at scale {scale} flows differ although the seed is the same; draw from `random` only")


def completes(
    scenario: str,
    scheme: str,
    p4: str | None = None,
    *,
    load_balancing: str | None = None,
    settings: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """A run in virtual time at scale ci is trusted, and all its flows finish."""
    request = RunSpec(scenario, scheme, clock="virtual", program=read_program(p4), load_balancing=load_balancing)
    plan = plan_run(replace(request, settings=dict(settings)))
    build_programs([plan])
    with temporary_folder(TEMPORARY) as folder:
        result = execute(plan, folder, Silent(), page=False).result
    require(result.verdict != "invalid", f"a run of {scenario} is invalid: {' '.join(result.verdict_reasons)}")
    require(result.did_finish, f"{result.unfinished} flows of {scenario} did not finish")


def takes_a_run(function: Callable[[Run, Path], object]) -> None:
    """A function of a stored run and of a folder accepts a run of incast. A run may have too little data for it."""
    plan = plan_run(RunSpec("incast", clock="virtual"))
    with temporary_folder(TEMPORARY) as folder:
        run = load_run(execute(plan, folder, Silent(), page=False).folder)
        with suppress(NotMeasured):
            function(run, folder / "out")
