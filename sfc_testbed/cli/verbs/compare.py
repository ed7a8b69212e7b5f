# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed compare`. Functions import what bad input does not need."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sfc_testbed.api.requests import clock_of, dilation_of, load_balancings_of, scenario_of, schemes_of
from sfc_testbed.cli.listing import words
from sfc_testbed.cli.options import (
    ClaimsFile,
    ClockName,
    DilationFactor,
    Duration,
    Faults,
    FlowFile,
    HostsImage,
    Json,
    LoadBalancingNames,
    OptionalScenario,
    Out,
    P4Programs,
    Pictures,
    Retry,
    ScaleName,
    Settings,
    SwitchName,
    TopologyName,
    Uses,
    WatchPage,
)
from sfc_testbed.cli.output import EXIT_CLAIM, say_json, say_page, warn, with_fields
from sfc_testbed.cli.planning import checked, chosen_seeds, end_by_outcome, reporter, watched
from sfc_testbed.request.load_balancing import scheme_with
from sfc_testbed.request.network_file import read_network_file
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import Interrupted, UsageError
from sfc_testbed.testbed.interrupt import interruptible
from sfc_testbed.testbed.plan.checks import check_names


def verb(
    scenario: OptionalScenario = None,
    *,
    schemes: Annotated[
        str,
        typer.Option(
            help="Schemes, separated by commas; ratios are relative to the first.", autocompletion=words.scheme_lists
        ),
    ] = "irn,sfc",
    load_balancing: LoadBalancingNames = None,
    switch: SwitchName = "auto",
    p4: P4Programs = None,
    clock: ClockName = "real",
    dilation: DilationFactor = "auto",
    scale: ScaleName = "ci",
    seed: Annotated[int | None, typer.Option(help="Random seed.", show_default="1")] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            help="Several seeds, such as 1..5 or 1,3,7: the table gives means and confidence intervals.",
            show_default=False,
        ),
    ] = None,
    duration: Duration = None,
    settings: Settings = None,
    topology: TopologyName = None,
    flows: FlowFile = None,
    fault: Faults = None,
    hosts: HostsImage = None,
    out: Out = Path("runs"),
    claims: ClaimsFile = None,
    retry: Retry = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 if a claim does not hold.")] = False,
    watch: WatchPage = False,
    png: Pictures = False,
    json: Json = False,
    use: Uses = None,
) -> None:
    changed = parse_settings(settings or ())
    request = RunSpec(
        scenario_of(scenario, has_flows=flows is not None),
        switch=switch,
        clock=clock_of(clock),
        dilation=dilation_of(dilation),
        scale=scale,
        duration_ms=duration,
        topology=topology,
        settings=changed,
        network_file=read_network_file(topology, changed),
        flow_file=flows,
        faults=tuple(fault or ()),
        hosts=hosts,
    )
    check_names(request)
    balancings = load_balancings_of(load_balancing)
    for scheme in schemes_of(schemes):
        for name in balancings:
            scheme_with(scheme, name)

    from sfc_testbed.api.comparing import claims_of, requests_of, run_compared
    from sfc_testbed.api.dilations import note_dilations
    from sfc_testbed.testbed.execution.retry import check_retry
    from sfc_testbed.testbed.program.user_program import read_programs

    claimed = claims_of(claims)
    if strict and not claimed:
        raise UsageError("--strict needs claims: add --claims FILE.py")
    if retry:
        check_retry(request.clock)
    chosen = chosen_seeds(seed, seeds)
    programs = read_programs(p4 or ()) or [None]
    requests = requests_of(request, schemes_of(schemes), balancings, chosen, programs)
    plans = checked(requests, out)
    shown = reporter(quiet=json)
    note_dilations(plans, shown)
    with watched(shown, plans, is_wanted=watch) as page:
        done = run_compared(requests, plans, out, shown, claimed, retry=retry, watch=page, pictures=png)
    with interruptible():  # everything is stored by now
        comparison = done.compared()
        if json:
            folder = None if done.page is None else str(done.page.parent)
            say_json(with_fields(comparison.to_json(), folder=folder, folders=[str(run.folder) for run in done.runs]))
        else:
            from sfc_testbed.analysis.report.terminal_tables import comparison_table
            from sfc_testbed.cli.output import console

            console.print(comparison_table(comparison))
            say_page(done.page, is_watched=watch)
    for failure in done.failures:
        warn(failure)
    if done.is_interrupted:
        raise Interrupted(done.kept)
    end_by_outcome(done.runs)
    if strict and not all(claim.holds for claim in done.claims):
        raise typer.Exit(EXIT_CLAIM)
