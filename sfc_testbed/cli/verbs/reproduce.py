# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed reproduce`."""

from __future__ import annotations

import json as json_format
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from sfc_testbed.analysis.results.outcome import tally
from sfc_testbed.api.dilations import note_dilations
from sfc_testbed.api.requests import clock_of
from sfc_testbed.cli.findings import print_findings, print_json, print_overview
from sfc_testbed.cli.listing import words
from sfc_testbed.cli.options import Json, Out, P4Program, Retry, SchedulerAddress, Settings, Uses, Workers, milliseconds
from sfc_testbed.cli.outcomes import print_reproduction
from sfc_testbed.cli.output import EXIT_CLAIM, EXIT_INVALID, complain, say, say_json
from sfc_testbed.cli.planning import checked, chosen_seeds, note_retry, reporter
from sfc_testbed.hosts.transport.congestion.presets import PRESETS
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.effort import brief_request, with_decided_dilations, with_efforts
from sfc_testbed.reproduction.jobs import CONGESTION, ExperimentJob, jobs_of, known_to_experiment
from sfc_testbed.reproduction.reproduce import RUNS, ReproducedExperiments, announcement, jobs_in, reproduce
from sfc_testbed.reproduction.summaries import SCALES, matching, read_summaries
from sfc_testbed.request.settings import Settings as SettingValues
from sfc_testbed.request.settings import parse_settings, settings_words
from sfc_testbed.request.shown import nearest, shortened, shown
from sfc_testbed.request.spec import ClockName
from sfc_testbed.request.spec import P4Program as CompiledProgram
from sfc_testbed.testbed.errors import Interrupted, UsageError
from sfc_testbed.testbed.execution.retry import check_retry
from sfc_testbed.testbed.jobs.job import executor_for
from sfc_testbed.testbed.program.user_program import read_program


def verb(
    experiment: Annotated[
        str,
        typer.Argument(help="Experiment of the paper, or `all`, see `list`.", autocompletion=words.experiments_or_all),
    ],
    *,
    scale: Annotated[
        str | None,
        typer.Option(
            help="Size of the network and the traffic: ci, laptop or paper.",
            show_default="ci",
            autocompletion=words.scales,
        ),
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option(
            help="Clock, real or virtual; by default virtual.", show_default=False, autocompletion=words.clocks
        ),
    ] = None,
    out: Out = Path("runs"),
    workers: Workers = None,
    scheduler: SchedulerAddress = None,
    retry: Retry = False,
    seed: Annotated[int | None, typer.Option(help="Random seed.", show_default="1")] = None,
    seeds: Annotated[
        str | None,
        typer.Option(
            help="Several seeds, such as 1..5 or 1,3,7: a claim holds, fails, or depends on the seed. With --show: "
            "the values with these seeds, or with `all`.",
            show_default=False,
        ),
    ] = None,
    settings: Settings = None,
    p4: P4Program = None,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 if a claim does not hold.")] = False,
    show: Annotated[
        bool,
        typer.Option("--show", help="Start nothing; print the stored results, by default those of the largest scale."),
    ] = False,
    preset: Annotated[
        str | None,
        typer.Option(
            help=f"With --show: results with a preset of the HPCC simulator, {' or '.join(PRESETS)}.",
            show_default=False,
        ),
    ] = None,
    arrivals: Annotated[
        float | None,
        typer.Option(
            metavar="TIME",
            parser=milliseconds,
            help="With --show: results of runs whose messages arrive for this time, such as 2ms; a number is in ms.",
            show_default=False,
        ),
    ] = None,
    full: Annotated[
        bool,
        typer.Option(
            "--full", help="With --show: also tables of figures, and reasons with the commands of their tests."
        ),
    ] = False,
    json: Json = False,
    use: Uses = None,
) -> None:
    if show:
        _refuse(
            "--show starts no run",
            {
                "--clock": clock is not None,
                "--out": out != Path("runs"),
                "--workers": workers is not None,
                "--scheduler": scheduler is not None,
                "--retry": retry,
                "--seed": seed is not None,
                "--set": bool(settings),
                "--p4": p4 is not None,
                "--strict": strict,
            },
        )
        _show(experiment, scale, preset, arrivals, seeds, in_full=full, is_json=json)
        return
    _refuse("only with --show", {"--preset": preset is not None, "--arrivals": arrivals is not None, "--full": full})
    scale = "ci" if scale is None else scale
    chosen = None if clock is None else clock_of(clock)
    names = _experiments(experiment)
    changed_settings = parse_settings(settings or ())
    changed = settings_of(names, changed_settings)
    jobs = _jobs(changed, scale, chosen, chosen_seeds(seed, seeds), read_program(p4))
    if retry and all(job.request.clock == "virtual" for job in jobs):
        check_retry("virtual")
    plans = checked([brief_request(job.request)[0] for job in jobs], out, workers=1)
    jobs = with_efforts(jobs, plans)
    if scheduler is None:
        jobs = with_decided_dilations(jobs, plans)
    note_dilations(plans, reporter())
    say_left_out(changed, changed_settings)
    say_schemes_left_out(jobs)
    executor = executor_for(scheduler, workers)
    complain(announcement(jobs_in(jobs, out.absolute()), executor))
    with reporter().jobs() as tell:
        reproduced = reproduce(
            scale,  # type: ignore[arg-type]
            jobs,
            out.absolute(),
            executor,
            tell,
            note_retry if retry else None,
        )
    if reproduced.is_interrupted:
        kept = f"{reproduced.ran} of {len(jobs)} runs are complete, in {out / RUNS}"
        raise Interrupted(f"{kept}; repeat the command to run the rest")
    if json:
        _print_json(reproduced, as_list=experiment == "all")
    else:
        for stored in reproduced.experiments:
            print_reproduction(stored)
        claims = [claim for stored in reproduced.experiments for claim in stored.reproduction.claims]
        say(tally(claim.outcome_text for claim in claims))
    if any(stored.reproduction.failures for stored in reproduced.experiments):
        raise typer.Exit(EXIT_INVALID)
    if strict and not all(stored.reproduction.all_hold for stored in reproduced.experiments):
        raise typer.Exit(EXIT_CLAIM)


def _refuse(reason: str, is_typed: Mapping[str, bool]) -> None:
    """Raise UsageError if an option is typed that does not fit."""
    if any(is_typed.values()):
        raise UsageError(f"{', '.join(option for option, typed in is_typed.items() if typed)}: {reason}")


def _show(
    experiment: str,
    scale: str | None,
    preset: str | None,
    arrivals_ms: float | None,
    seeds: str | None,
    *,
    in_full: bool,
    is_json: bool,
) -> None:
    """Print stored results."""
    for option, name, known in (("--scale", scale, SCALES), ("--preset", preset, PRESETS)):
        if name is not None and name not in known:
            raise UsageError(f"{option}: unknown {shown(name)}; choose from {', '.join(known)}{nearest(name, known)}")
    names = _experiments(experiment)
    name = names[0] if len(names) == 1 else None
    every = read_summaries()
    found = matching(every, name, scale, preset, arrivals_ms)
    by_seed = None if seeds is None else [] if seeds == "all" else chosen_seeds(None, seeds)
    if is_json:
        _refuse("--json prints all of it", {"--seeds": seeds is not None, "--full": in_full})
        print_json(found)
    elif name is None:
        _refuse("name an experiment", {"--seeds": seeds is not None, "--full": in_full})
        print_overview(found)
    else:
        print_findings(matching(every, name), found, by_seed, in_full=in_full)


def _jobs(
    changed: Mapping[str, SettingValues],
    scale: str,
    clock: ClockName | None,
    seeds: Sequence[int],
    program: CompiledProgram | None,
) -> list[ExperimentJob]:
    return [
        job
        for name, own in changed.items()
        for job in jobs_of(EXPERIMENTS[name], scale, clock, seeds=seeds, changed=own, program=program)  # type: ignore[arg-type]
    ]


def settings_of(names: Sequence[str], settings: SettingValues) -> dict[str, SettingValues]:
    """Return the settings of each experiment. A single experiment gets all of them and refuses those it does not have;
    with several experiments, each gets the settings that it has. UsageError for a setting that no experiment has."""
    if len(names) == 1:
        return {names[0]: settings}
    changed = {name: known_to_experiment(EXPERIMENTS[name], settings) for name in names}
    for key in settings:
        if not any(key in own for own in changed.values()):
            fields = {field for name in names for field in EXPERIMENTS[name].scenario.workload.model_fields}
            raise UsageError(f"--set {shortened(key)}: no experiment has such a setting{nearest(key, fields)}")
    return changed


def say_left_out(changed: Mapping[str, SettingValues], settings: SettingValues) -> None:
    """Print on stderr which experiments have a setting, if other experiments run without it."""
    for key, word in zip(settings, settings_words(settings), strict=True):
        with_it = [name for name, own in changed.items() if key in own]
        if len(with_it) < len(changed):
            complain(f"--set {word}: used by {', '.join(with_it)}; the other experiments do not have this setting")


def say_schemes_left_out(jobs: Sequence[ExperimentJob]) -> None:
    """Print on stderr which schemes run without chosen congestion parameters that others of the experiment have."""
    schemes: dict[str, list[str]] = {}
    for job in {job.point.scheme: job for job in jobs}.values():
        missing = sorted(set(job.changed.get(CONGESTION, {})) - set(job.request.settings.get(CONGESTION, {})))
        if missing:
            schemes.setdefault(", ".join(missing), []).append(job.point.scheme)
    for parameters, names in schemes.items():
        complain(f"runs of {', '.join(names)} use no {parameters}: their congestion controls have no such parameter")


def _experiments(text: str) -> list[str]:
    if text == "all":
        return list(EXPERIMENTS)
    if text not in EXPERIMENTS:
        raise UsageError(f"unknown experiment {text!r}; choose from all, {', '.join(EXPERIMENTS)}")
    return [text]


def _print_json(reproduced: ReproducedExperiments, *, as_list: bool) -> None:
    documents = [
        {**stored.reproduction.model_dump(by_alias=True), "folder": str(stored.folder)}
        for stored in reproduced.experiments
    ]
    content = documents if as_list else documents[0]
    say_json(json_format.dumps(content, indent=2, ensure_ascii=False) + "\n")
