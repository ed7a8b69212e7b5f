# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`sfc-testbed validate`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from sfc_testbed.analysis.report.validation import write_validation_page
from sfc_testbed.api.dilations import note_dilations
from sfc_testbed.api.requests import dilation_of, schemes_of
from sfc_testbed.cli.comparisons import print_peer_validation, show_cases, show_pairs
from sfc_testbed.cli.listing import words
from sfc_testbed.cli.options import (
    DilationFactor,
    LoadBalancingName,
    Out,
    P4Program,
    Pictures,
    Retry,
    ScaleName,
    Settings,
    SwitchName,
    Uses,
    Workers,
)
from sfc_testbed.cli.outcomes import print_validation
from sfc_testbed.cli.output import EXIT_CLAIM, EXIT_INVALID, complain, say_json, with_fields
from sfc_testbed.cli.planning import checked, note_retry, reporter
from sfc_testbed.reproduction.validation import ALL, Wish, pairs_of
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.simulators.run import PEERS, PeerCase, case_of, simulator_of, standard_cases, validate_with_peer
from sfc_testbed.testbed.errors import Interrupted, UsageError
from sfc_testbed.testbed.jobs.job import executor_for
from sfc_testbed.testbed.program.user_program import read_program
from sfc_testbed.testbed.recording.folder import give_to_caller
from sfc_testbed.testbed.validation.duration import announcement, not_longer
from sfc_testbed.testbed.validation.run import StoredValidation, validate


def verb(
    scenario: Annotated[
        str, typer.Argument(help="Scenario, see `list`, or `all`.", autocompletion=words.scenarios_or_all)
    ] = ALL,
    *,
    schemes: Annotated[
        str | None,
        typer.Option(
            help="Schemes, separated by commas.",
            show_default="the schemes of the scenario's experiment",
            autocompletion=words.scheme_lists,
        ),
    ] = None,
    load_balancing: LoadBalancingName = None,
    switch: SwitchName = "auto",
    p4: P4Program = None,
    dilation: DilationFactor = "auto",
    scale: ScaleName = "ci",
    seed: Annotated[int | None, typer.Option(help="Random seed.", show_default="the experiment's seed, or 1")] = None,
    settings: Settings = None,
    out: Out = Path("runs"),
    workers: Workers = None,
    longest: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            min=0,
            help="Skip live runs that would take longer; each is named.",
            show_default="any",
        ),
    ] = None,
    retry: Retry = False,
    peer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help=f"Compare the virtual clock with a simulator instead of a live run: {' or '.join(PEERS)}. An "
            "environment variable names its program, see docs/validation.md.",
            show_default="none",
        ),
    ] = None,
    spread: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=1000,
            help="If a result is out of tolerance, run N virtual runs with as much link jitter as the live run was "
            "late, and report the spread of the result.",
            show_default="none",
        ),
    ] = 0,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 if a result is out of tolerance.")] = False,
    show: Annotated[
        bool,
        typer.Option("--show", help="Print stored comparisons of this project, also with --peer. No run starts."),
    ] = False,
    png: Pictures = False,
    json: Annotated[bool, typer.Option("--json", help="Print validation.json and nothing else.")] = False,
    use: Uses = None,
) -> None:
    is_live_only = {
        "--switch": switch != "auto",
        "--p4": p4 is not None,
        "--dilation": dilation != "auto",
        "--workers": workers is not None,
        "--longest": longest is not None,
        "--retry": retry,
        "--spread": spread > 0,
        "--strict": strict,
        "--png": png,
    }
    if show:
        is_for_runs = {
            "--schemes": schemes is not None,
            "--load-balancing": load_balancing is not None,
            "--scale": scale != "ci",
            "--seed": seed is not None,
            "--set": bool(settings),
            "--out": out != Path("runs"),
        }
        _show(scenario, peer, {**is_live_only, **is_for_runs}, is_json=json)
        return
    names = None if schemes is None else schemes_of(schemes)
    if peer is not None:
        _refuse(is_live_only, "--peer compares without a live run and has no tolerances")
        cases = _cases(peer, scenario, names, load_balancing, scale, seed, settings or ())
        _with_peer(peer, cases, scenario, out, is_json=json)
        return
    own = (dilation_of(dilation), seed, parse_settings(settings or ()))
    wish = Wish(scenario, names, switch, scale, *own, program=read_program(p4), load_balancing=load_balancing)
    pairs, left_out = pairs_of(wish)
    plans = checked([request for pair in pairs for request in (pair.virtual, pair.live)], out, has_virtual=False)
    live = plans[1::2]
    if longest is not None:
        pairs, live, too_long = not_longer(pairs, live, longest)
        left_out += too_long
    if not json and (line := announcement(live)) is not None:
        complain(line)
    if scenario != ALL:
        note_dilations(live, reporter())
    with reporter().jobs() as tell:
        stored = validate(
            pairs,
            left_out,
            scenario,
            out,
            executor_for(None, workers),
            tell,
            note_retry if retry else None,
            spread,
            [plan.decided for plan in live],
        )
    page = _page(stored, pictures=png)
    if json:
        say_json(with_fields(stored.validation.to_json(), folder=str(stored.folder)))
    else:
        print_validation(stored.validation, stored.folder, page, in_full=scenario != ALL)
    if stored.is_interrupted:
        raise Interrupted(stored.kept)
    if not stored.validation.is_trusted:
        raise typer.Exit(EXIT_INVALID)
    if strict and not stored.validation.is_within:
        raise typer.Exit(EXIT_CLAIM)


def _show(scenario: str, peer: str | None, is_typed: Mapping[str, bool], *, is_json: bool) -> None:
    _refuse(is_typed, "--show prints stored comparisons and runs nothing")
    named = None if scenario == ALL else scenario
    if peer is None:
        show_pairs(named, is_json=is_json)
    else:
        show_cases(peer, named, is_json=is_json)


def _refuse(is_typed: Mapping[str, bool], reason: str) -> None:
    """Raise UsageError if one of these options is typed."""
    if any(is_typed.values()):
        raise UsageError(f"{reason}: leave out {', '.join(option for option, typed in is_typed.items() if typed)}")


def _with_peer(peer: str, cases: Sequence[PeerCase], name: str, out: Path, *, is_json: bool) -> None:
    validation, folder = validate_with_peer(peer, cases, name, out, complain)
    if is_json:
        say_json(with_fields(validation.to_json(), folder=str(folder)))
    else:
        print_peer_validation(validation, folder, in_full=name != ALL)
    if validation.failures:
        raise typer.Exit(EXIT_INVALID)


def _cases(
    peer: str,
    scenario: str,
    schemes: tuple[str, ...] | None,
    load_balancing: str | None,
    scale: str,
    seed: int | None,
    settings: Sequence[str],
) -> list[PeerCase]:
    """Return the cases of a scenario, or the standard cases for `all`, which takes no other options."""
    if scenario != ALL:
        return [
            case_of(scenario, scheme, scale, settings, seed=seed, load_balancing=load_balancing)
            for scheme in schemes or simulator_of(peer).SCHEMES
        ]
    if schemes is not None or load_balancing is not None or settings or seed is not None or scale != "ci":
        raise UsageError("--peer: without a scenario it runs the cases of docs/validation.md, which take no settings")
    return standard_cases(peer)


def _page(stored: StoredValidation, *, pictures: bool) -> Path | None:
    """Write the page and return its path; None without results or after an interruption."""
    if not stored.validation.runs or stored.is_interrupted:
        return None
    try:
        page = write_validation_page(stored.folder, stored.validation, pictures=pictures)
    except KeyboardInterrupt as error:
        raise Interrupted(f"{stored.kept}; the report was not written") from error
    finally:
        give_to_caller(stored.folder)
    return page
