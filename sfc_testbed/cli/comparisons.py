# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Comparisons with other simulators on the terminal, and `validate --show`: the stored comparisons of this project."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sfc_testbed.analysis.formatting import NOTHING
from sfc_testbed.analysis.report.validation import validated_run_table, validation_summary
from sfc_testbed.analysis.terminal import Fitted
from sfc_testbed.analysis.validation.record import ValidatedRun, Validation, read_validation
from sfc_testbed.api.errors import refused_in_one_line
from sfc_testbed.cli.output import console, say, say_json, warn
from sfc_testbed.documents.curve import CURVE_HEADINGS, curve_cells, curves
from sfc_testbed.documents.stored import CASES, PAIRS, TESTS
from sfc_testbed.place import typed_here
from sfc_testbed.request.spec import FLOW_LIST
from sfc_testbed.simulators.comparison import FILE_NAME, PeerRun, PeerValidation, read_peer_validation
from sfc_testbed.simulators.run import simulator_of
from sfc_testbed.simulators.tables import peer_summary, peer_table
from sfc_testbed.testbed.errors import UsageError


def print_peer_validation(validation: PeerValidation, folder: Path, *, in_full: bool) -> None:
    """Print a row for each run, and with `in_full` all its figures; failed cases go to stderr."""
    for run in validation.runs if in_full else ():
        console.print(peer_table(run, validation.peer))
        console.print()
    if validation.runs:
        console.print(peer_summary(validation))
    for failure in validation.failures:
        warn(f"failed: {failure}")
    say(f"results: {folder / FILE_NAME}")


def show_pairs(scenario: str | None, *, is_json: bool) -> None:
    """Print a row for each stored pair of a live and a virtual run; of a named scenario, all figures of each pair."""
    with refused_in_one_line(PAIRS):
        runs = read_validation(PAIRS).runs
    chosen = [run for run in runs if scenario in (None, run.scenario)]
    if not chosen:
        raise _unknown(scenario, [run.scenario for run in runs])
    if is_json:
        say_json(Validation(runs=tuple(chosen)).to_json())
        return
    pairs = [run for run in chosen if not run.dilation_given]
    for run in pairs if scenario else ():
        console.print(validated_run_table(run))
        say(run.live_command)
        console.print()
    for name, curve in curves(chosen).items():
        console.print(_curve_table(name, curve))
    switch_and_scale = attrgetter("switch", "scale")
    for (switch, scale), group in groupby(sorted(pairs, key=switch_and_scale), switch_and_scale):
        say(f"switch {switch}, scale {scale}")
        console.print(validation_summary(Validation(runs=tuple(group))))


def show_cases(peer: str, scenario: str | None, *, is_json: bool) -> None:
    """Print a row for each stored case of a simulator; of a named scenario, all figures of each case."""
    name = simulator_of(peer).NAME
    with refused_in_one_line(CASES):
        runs = [run for run in read_peer_validation(CASES).runs if run.peer == name]
    chosen = [run for run in runs if scenario in (None, _scenario(run))]
    if not chosen:
        raise _unknown(scenario, [_scenario(run) for run in runs])
    validation = PeerValidation(peer=name, runs=tuple(chosen))
    if is_json:
        say_json(validation.to_json())
        return
    for run in chosen if scenario else ():
        console.print(peer_table(run, name))
        say(typed_here(run.command))
        console.print()
    console.print(peer_summary(validation))
    tests = [row for row in json.loads(TESTS.read_text(encoding="utf-8"))["tests"] if row["simulator"] == name]
    for test, rows in groupby(tests if scenario is None else (), key=lambda row: row["test"]):
        console.print(_test_table(test, list(rows)))


def _test_table(test: str, rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Return the figures of a test, ours compared with the simulator's."""
    figures = dict.fromkeys(figure for row in rows for figure in row["figures"])
    table = Table("run", "variant", *figures, title=Text(f"Test of a cause: {test}"), box=SIMPLE_HEAD)
    for row in rows:
        table.add_row(row["run"], row["variant"], *(row["figures"].get(figure, NOTHING) for figure in figures))
    return Fitted(table)


def _scenario(run: PeerRun) -> str:
    """Return the scenario of a case: the word after `./runner.py run`, which a list of flows has not."""
    word = run.command.split()[2]
    return FLOW_LIST if word.startswith("-") else word


def _unknown(scenario: str | None, known: Sequence[str]) -> UsageError:
    return UsageError(f"--show: no comparison of {scenario!r} is stored; choose from {', '.join(dict.fromkeys(known))}")


def _curve_table(name: str, curve: Sequence[ValidatedRun]) -> RenderableType:
    table = Table(title=Text(f"{name}: error against lateness"), title_style="bold", box=SIMPLE_HEAD)
    for heading in CURVE_HEADINGS:
        table.add_column(heading, justify="right")
    for run in curve:
        table.add_row(*map(Text, curve_cells(run)))
    return Fitted(table)
