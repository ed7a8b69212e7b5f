# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""All checks of what an extension adds, in the order in which they are made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sfc_testbed.analysis.report.plots import PLOTS
from sfc_testbed.analysis.report.sections import SECTIONS
from sfc_testbed.analysis.results.quantities import QUANTITIES
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.contract import collectives, networks, transport
from sfc_testbed.contract.broken import Broken
from sfc_testbed.hosts.crash import engine_crash
from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
from sfc_testbed.hosts.transport.load_balancing import LOAD_BALANCINGS as HOST_LOAD_BALANCINGS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.request.extension import Extension
from sfc_testbed.request.extensions import description
from sfc_testbed.request.load_balancing import LOAD_BALANCINGS
from sfc_testbed.request.schemes import SCHEMES
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.scenarios.traffic.collectives.table import COLLECTIVES
from sfc_testbed.testbed.errors import RunError, UsageError
from sfc_testbed.testbed.execution.export_formats import EXPORT_FORMATS
from sfc_testbed.testbed.program.registered import SWITCH_PROGRAMS
from sfc_testbed.topologies.shapes import SHAPES


@dataclass(frozen=True)
class Checked:
    """The outcome of one check of one row. `lack` is None if the contract holds."""

    what: str
    """The kind and the name of the row."""
    check: str
    lack: str | None


def checked(extension: Extension) -> Iterator[Checked]:
    """Make all checks of the rows that an extension added. UsageError if none of them has a contract."""
    checks = list(_checks(extension.word))
    if not checks:
        raise UsageError(f"{extension.word}: the file adds nothing that has a contract")
    for what, check, function in checks:
        yield Checked(what, check, _lack(function, extension))


def _checks(word: str) -> Iterator[tuple[str, str, Callable[[], None]]]:
    yield from _checks_of_algorithms(word)
    for name in SCHEMES.of(word):
        yield f"scheme {name}", "a run of incast", partial(networks.completes, "incast", name)
    for name, balancing in LOAD_BALANCINGS.of(word).items():
        program = next(iter(SWITCH_PROGRAMS.of(word)), None) if balancing.program else None
        check = partial(networks.completes, "incast", "irn", program, load_balancing=name)
        yield f"load balancing {name}", "a run of incast", check
    yield from _checks_of_collectives(word)
    for name in SHAPES.of(word):
        yield f"topology {name}", "defaults", partial(networks.builds_from_its_defaults, name)
        yield f"topology {name}", "paths", partial(networks.connects_all_hosts, name)
    for name in SWITCH_PROGRAMS.of(word):
        yield f"switch program {name}", "a run of incast", partial(networks.completes, "incast", "sfc", name)
    for name, scenario in SCENARIOS.of(word).items():
        for scale in scenario.scales:
            yield f"scenario {name}", f"flows at scale {scale}", partial(networks.can_be_planned, name, scale)
        yield f"scenario {name}", "a run", partial(networks.completes, name, "irn")
    yield from _checks_of_results(word)


def _checks_of_collectives(word: str) -> Iterator[tuple[str, str, Callable[[], None]]]:
    for collective, row in COLLECTIVES.items():
        for name in row.algorithms.of(word):
            what = f"algorithm {name} of {collective}"
            settings = {"collective": collective, "algorithm": name}
            yield what, "messages", partial(collectives.moves_the_data, collective, name)
            yield what, "a run", partial(networks.completes, "collective", "irn", settings=settings)


def _checks_of_algorithms(word: str) -> Iterator[tuple[str, str, Callable[[], None]]]:
    """Yield the checks of the algorithms of hosts."""
    for name, control in CONGESTION_CONTROLS.of(word).items():
        what = f"congestion control {name}"
        yield what, "class", partial(transport.is_described, control)
        yield what, "first window and rate", partial(transport.starts_with_a_window_and_a_rate, control)
        yield from _combined(what, transport.combinations([name], ["none", "sfc"], ["irn", "go-back-n"]))
        yield what, "a run of incast", partial(networks.completes, "incast", f"irn+{name}")
    for name, flow_control in FLOW_CONTROLS.of(word).items():
        what = f"flow control {name}"
        yield what, "class", partial(transport.is_described, flow_control)
        yield from _combined(what, transport.combinations(["window", "dcqcn"], [name], ["irn", "go-back-n"]))
    for name, recovery in LOSS_RECOVERIES.of(word).items():
        what = f"loss recovery {name}"
        yield what, "class", partial(transport.is_described, recovery)
        yield from _combined(what, transport.combinations(["window", "dcqcn"], ["none", "sfc"], [name]))
    for name, balancing in HOST_LOAD_BALANCINGS.of(word).items():
        what = f"load balancing {name}"
        yield what, "class", partial(transport.is_described, balancing)
        yield from _combined(what, transport.combinations(["window"], ["none", "sfc"], ["irn", "go-back-n"], [name]))


def _checks_of_results(word: str) -> Iterator[tuple[str, str, Callable[[], None]]]:
    """Yield what is computed from results, for a run of incast. Plots of other pages need several runs."""
    rows: dict[str, Callable[[Run, Path], object]] = {}
    for name, plot in PLOTS["run"].of(word).items():
        rows[f"plot {name}"] = partial(_first, plot.draw)
    for name, section in SECTIONS["run"].of(word).items():
        rows[f"section {name}"] = partial(_first, section.tables)
    for name, quantity in QUANTITIES.of(word).items():
        rows[f"quantity {name}"] = partial(_first, quantity.measure)
    for name, export in EXPORT_FORMATS.of(word).items():
        rows[f"export format {name}"] = partial(_exported, export.write)
    for what, function in rows.items():
        yield what, "a run of incast", partial(networks.takes_a_run, function)


def _first(function: Callable[[Run], object], run: Run, folder: Path) -> object:
    return function(run)


def _exported(write: Callable[[Path, Path], object], run: Run, folder: Path) -> object:
    return write(run.folder, folder)


def _combined(what: str, combinations: list[transport.Combination]) -> Iterator[tuple[str, str, Callable[[], None]]]:
    for combination in combinations:
        for check, function in transport.checks(combination).items():
            yield what, f"{' + '.join(combination)}: {check}", function


def _lack(function: Callable[[], Any], extension: Extension) -> str | None:
    """Return what is missing, or None. An exception in the extension names its file and line."""
    try:
        function()
    except (Broken, UsageError, RunError) as error:
        return str(error)
    except Exception as error:
        return engine_crash(error) or description(error, extension)
    return None
