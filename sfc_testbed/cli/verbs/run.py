# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed run`. Functions import what bad input does not need, or what the packets need not wait for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from sfc_testbed.api.requests import clock_of, dilation_of, places_of, scenario_of, workers_of
from sfc_testbed.cli.listing import words
from sfc_testbed.cli.options import (
    BackgroundName,
    ClockName,
    DilationFactor,
    Duration,
    ExchangeName,
    Faults,
    FlowFile,
    HostsImage,
    Json,
    LoadBalancingName,
    OptionalScenario,
    Out,
    P4Program,
    Pcap,
    Pictures,
    Retry,
    RunWorkers,
    ScaleName,
    Seed,
    Settings,
    SwitchName,
    TopologyName,
    Uses,
    WatchPage,
)
from sfc_testbed.cli.output import say_json, say_page, warn, with_fields
from sfc_testbed.cli.planning import checked, end_by_outcome, over_ranks, ranks_of, reporter, watched
from sfc_testbed.request.network_file import read_network_file
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.interrupt import interruptible


def verb(
    scenario: OptionalScenario = None,
    *,
    scheme: Annotated[
        str,
        typer.Option(
            help="Scheme, see `list`; a suffix such as +dcqcn or +hpcc sets the congestion control.",
            autocompletion=words.schemes,
        ),
    ] = "sfc",
    load_balancing: LoadBalancingName = None,
    switch: SwitchName = "auto",
    p4: P4Program = None,
    clock: ClockName = "real",
    dilation: DilationFactor = "auto",
    scale: ScaleName = "ci",
    seed: Seed = 1,
    duration: Duration = None,
    settings: Settings = None,
    topology: TopologyName = None,
    flows: FlowFile = None,
    fault: Faults = None,
    hosts: HostsImage = None,
    out: Out = Path("runs"),
    pcap: Pcap = "",
    background: BackgroundName = None,
    workers: RunWorkers = "auto",
    exchange: ExchangeName = "memory",
    retry: Retry = False,
    watch: WatchPage = False,
    png: Pictures = False,
    json: Json = False,
    use: Uses = None,
) -> None:
    chosen = parse_settings(settings or ())
    request = RunSpec(
        scenario_of(scenario, has_flows=flows is not None),
        scheme=scheme,
        load_balancing=load_balancing,
        switch=switch,
        clock=clock_of(clock),
        dilation=dilation_of(dilation),
        scale=scale,
        seed=seed,
        duration_ms=duration,
        topology=topology,
        settings=chosen,
        network_file=read_network_file(topology, chosen),
        captures=places_of(pcap),
        background=background,
        flow_file=flows,
        faults=tuple(fault or ()),
        hosts=hosts,
    )
    if retry:
        from sfc_testbed.testbed.execution.retry import check_retry

        check_retry(request.clock)
    processes = workers_of(workers)
    ranks = ranks_of(exchange, processes)
    if p4 is not None:  # not before: only the first MPI rank gets here
        from sfc_testbed.testbed.program.user_program import read_program

        request = replace(request, program=read_program(p4))
    [plan] = checked([request], out, workers=processes if ranks is None else 1, compiles=ranks is None)
    clock_of_ranks = None if ranks is None else over_ranks(plan, ranks)
    shown = reporter(quiet=json)
    if plan.config.clock == "real":
        from sfc_testbed.api.dilations import note_dilations

        note_dilations([plan], shown)

    from sfc_testbed.api.planning import execute_plan
    from sfc_testbed.api.retrying import execute_retrying

    with watched(shown, [plan], is_wanted=watch) as page:
        if clock_of_ranks is None:
            run = execute_retrying(request, plan, out, shown, retry=retry, page=False, watch=page)
        else:
            run = execute_plan(plan, out, shown, clock_of_ranks, page=False, watch=page)
        with interruptible():  # everything is stored by now
            if json:
                say_json(with_fields(run.result.to_json(), folder=str(run.folder)))
            else:
                from sfc_testbed.analysis.report.terminal_tables import run_table
                from sfc_testbed.cli.output import console

                console.print(run_table(run.result, plan.config))

        from sfc_testbed.testbed.execution.execute import with_page
        from sfc_testbed.testbed.recording.outcome import Silent

        run = with_page(run, Silent(), pictures=png)
    if not json:
        say_page(run.report, is_watched=watch)
    for failure in run.failures:
        warn(failure)
    end_by_outcome([run])
