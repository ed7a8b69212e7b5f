# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`runner.py compare`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from analysis.report.pages import write_comparison_report
from analysis.report.tables import comparison_table
from analysis.results.comparison import compare
from command.options import (
    ClockName,
    DilationFactor,
    Duration,
    FlowFile,
    Json,
    Out,
    ScaleName,
    ScenarioName,
    Seed,
    Settings,
    SwitchName,
    TopologyName,
)
from command.output import console, say
from command.planning import checked, clock_of, dilation_of, execute_plan, exit_by_verdict
from testbed.execution.execute import StoredRun, give_to_caller, make_folder
from testbed.plan.plan import RunRequest


def verb(
    scenario: ScenarioName,
    *,
    schemes: Annotated[
        str, typer.Option(help="Schemes, separated by commas; the first is the base of ratios.")
    ] = "irn,sfc",
    switch: SwitchName = "auto",
    clock: ClockName = "real",
    dilation: DilationFactor = "auto",
    scale: ScaleName = "ci",
    seed: Seed = 1,
    duration: Duration = None,
    settings: Settings = None,
    topology: TopologyName = None,
    flows: FlowFile = None,
    out: Out = Path("runs"),
    json: Json = False,
) -> None:
    """Runs a scenario under each scheme."""
    request = RunRequest(
        scenario,
        switch=switch,
        clock=clock_of(clock),
        dilation=dilation_of(dilation),
        scale=scale,
        seed=seed,
        duration_ms=duration,
        topology=topology,
        settings=tuple(settings or ()),
        flow_file=flows,
    )
    runs: list[StoredRun] = []
    for plan in checked([replace(request, scheme=name.strip()) for name in schemes.split(",")], out):
        runs.append(execute_plan(plan, out, quiet=json))
        if runs[-1].result.interrupted:
            break
    folder = make_folder(out, f"{scenario}-compare")
    page = write_comparison_report([run.folder for run in runs], folder)
    give_to_caller(folder)
    comparison = compare([run.result for run in runs])
    if json:
        sys.stdout.write(comparison.model_dump_json(indent=2) + "\n")
    else:
        console.print(comparison_table(comparison))
        say(f"report: {page}")
    exit_by_verdict(runs)
