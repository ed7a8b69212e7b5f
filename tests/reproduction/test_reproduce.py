# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command `reproduce`: its folders and exit codes, and claims that fail when a mechanism is broken."""

from __future__ import annotations

import json
import shlex
import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.cli.planning import chosen_seeds
from sfc_testbed.cli.verbs.reproduce import say_left_out, say_schemes_left_out, settings_of
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.document.command import below
from sfc_testbed.reproduction.document.pages import pages_of
from sfc_testbed.reproduction.jobs import CONGESTION, jobs_of
from sfc_testbed.reproduction.judge import findings
from sfc_testbed.reproduction.model.claims import Bound, Judged
from sfc_testbed.reproduction.model.experiment import Measured, Measurement, Point, Results
from sfc_testbed.reproduction.model.quantities import Quantity
from sfc_testbed.reproduction.record import Reproduction, read_reproduction
from sfc_testbed.reproduction.remarks import Remarks, read_remarks
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.execution.execute import execute
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.recording.outcome import Silent
from tests.appearing import found
from tests.conftest import Refused
from tests.testbed import running


@pytest.mark.long
def test_the_claims_of_theory_hold_and_the_folder_is_complete(tmp_path: Path) -> None:
    done = running.run("reproduce", "theory", "--json", "--strict", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    content = json.loads(done.stdout)
    assert (content["experiment"], content["scale"]) == ("theory", "ci")
    assert len(content["claims"]) == 5
    assert all({"claim", "paper", "text", "outcome"} <= claim.keys() for claim in content["claims"])
    assert all(claim["outcome"] == "holds" and claim["is_ours"] for claim in content["claims"])
    [folder] = tmp_path.glob("theory-ci-reproduction-*")
    assert {"reproduction.json", "report.html", "claims.csv", "runs.csv"} <= {path.name for path in folder.iterdir()}
    [(summary, _)] = below([tmp_path])
    _assert_report_judges_again(folder)
    text = pages_of([summary], {}, {})["theory.md"]
    assert all(f"| {finding.text} | holds (ours) |" in text for finding in summary.claims)


def _assert_report_judges_again(folder: Path) -> None:
    """Assert that `report` checks the claims against the stored runs again, and so corrects an edited value."""
    path = folder / "reproduction.json"
    before = path.read_text()
    path.write_text(before.replace(json.loads(before)["claims"][0]["text"], "an edited value"))
    done = running.run("report", str(folder))
    assert done.returncode == 0, done.stderr
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read"),
        ('{"schema": "other/1"}', "not a reproduction of this testbed"),
        ('{"schema": "sfc-testbed/reproduction/2"}', "cannot be read"),
        (
            '{"schema": "sfc-testbed/reproduction/9"}',
            "reproduction version 9, this release reads 3; upgrade SFC Testbed",
        ),
    ],
)
def test_a_damaged_reproduction_is_refused(content: str, words: str, tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "reproduction.json").write_text(content)
    refused(["report", tmp_path], words)


def test_a_reproduction_of_the_first_version_has_one_seed(tmp_path: Path) -> None:
    """Older releases wrote such files."""
    finding = {"claim": "less", "paper": "half", "measured": "0.4x", "value": 0.4}
    content = {
        "schema": "sfc-testbed/reproduction/1",
        **{"experiment": "theory", "title": "Theory", "paper_place": "C", "scale": "ci", "seed": 4},
        "claims": [{**finding, "holds": True}, {**finding, "holds": False}],
        **{"runs": [], "failures": [], "notes": [], "clock": None, "changed": [], "program": None},
    }
    (tmp_path / "reproduction.json").write_text(json.dumps(content))
    stored = read_reproduction(tmp_path).reproduction
    assert stored.seeds == (4,)
    assert [finding.outcome for finding in stored.claims] == ["holds", "fails"]
    assert [finding.values for finding in stored.claims] == [(0.4,), (0.4,)]
    assert [finding.measured for finding in stored.claims] == ["0.4x", "0.4x"]


def _synchronization(tmp_path: Path, *, broken: bool) -> dict[str, bool]:
    """Return whether each claim of `synchronization` holds, from runs of two schemes with the largest degree.

    With `broken`, SFC's switches never send a signal.
    """
    experiment = EXPERIMENTS["synchronization"]
    measurements = []
    for job in jobs_of(experiment, "ci"):
        _, degree = job.point.place.values()
        if job.point.scheme not in ("irn+hpcc", "sfc+hpcc") or degree != 32:
            continue
        settings = job.request.settings
        if broken and job.point.scheme.startswith("sfc"):
            settings = {**settings, "switch.q_th_bytes": 900_000_000, "switch.pause_cache": False}
        request = RunSpec("synchronization", scheme=job.request.scheme, clock="virtual", scale="ci", settings=settings)
        measurements.append(
            Measurement(job.point, load_run(execute(plan_run(request), tmp_path, Silent(), page=False).folder))
        )
    rows = findings(experiment, [Results("ci", tuple(measurements))])
    return {row.claim: row.outcome == "holds" for row in rows}


@pytest.mark.long
def test_claims_about_synchronization_fail_without_sfc_signals(tmp_path: Path) -> None:
    works, broken = (_synchronization(tmp_path / str(is_broken), broken=is_broken) for is_broken in (False, True))
    benefit = "At the largest degree, SFC's peak buffer relative to no flow control falls as the interval grows"
    for claim in (
        "SFC's peak buffer is at most that without flow control, at every degree and interval",
        benefit,
    ):
        assert works[claim], claim
    assert not broken[benefit]
    assert not all(broken.values())


@pytest.mark.long
def test_the_claim_of_signaling_about_the_cache_fails_without_the_cache(tmp_path: Path) -> None:
    experiment = EXPERIMENTS["signaling"]
    claim = next(claim for claim in experiment.claims if "With the pause cache" in claim.claim)
    point = [point for point in experiment.grids["ci"].points() if point.scheme == "ingress-bts+window"][-1]
    job = next(job for job in jobs_of(experiment, "ci") if job.point == point)
    settings = {**job.request.settings, "switch.pause_cache": False}
    plan = plan_run(RunSpec("signaling", scheme="sfc+window", clock="virtual", seed=1, settings=settings))
    without_cache = load_run(execute(plan, tmp_path, Silent(), page=False).folder)
    ingress = load_run(execute(plan_run(job.request), tmp_path, Silent(), page=False).folder)
    results = Results("ci", (Measurement(point, ingress), Measurement(Point("sfc+window", point.place), without_cache)))
    assert not claim.check(results).holds


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_runs_in_remarks_can_be_planned(name: str) -> None:
    for run in sorted({run for reason in read_remarks().get(name, Remarks()).reasons for run in reason.runs}):
        verb, experiment, *words = shlex.split(run)
        assert verb == "run" or experiment == name
        options = dict(zip(words[::2], words[1::2], strict=True))
        changed = parse_settings(
            value for option, value in zip(words[::2], words[1::2], strict=True) if option == "--set"
        )
        assert set(options) <= {
            "--set",
            "--scale",
            "--scheme",
            "--clock",
            "--seed",
            "--seeds",
            "--duration",
            "--topology",
            "--load-balancing",
            "--fault",
        }
        scale = options.get("--scale", "ci")
        if verb == "reproduce":
            seed = int(options["--seed"]) if "--seed" in options else None
            seeds = chosen_seeds(seed, options.get("--seeds"))
            [first, *_] = jobs_of(EXPERIMENTS[experiment], scale, seeds=seeds, changed=changed)  # type: ignore[arg-type]
            plan_run(first.request)
        else:
            assert (verb, options["--clock"]) == ("run", "virtual")
            request = RunSpec(experiment, options["--scheme"], clock="virtual", scale=scale, settings=changed)
            plan_run(
                replace(
                    request,
                    duration_ms=float(options["--duration"]) if "--duration" in options else None,
                    topology=options.get("--topology"),
                    load_balancing=options.get("--load-balancing"),
                    faults=(options["--fault"],) if "--fault" in options else (),
                )
            )


def test_seed_and_changed_settings_are_in_every_run_and_in_the_command() -> None:
    jobs = jobs_of(EXPERIMENTS["long-rtt"], "ci", seeds=(7, 8), changed={"load": 0.1})
    assert [job.request.seed for job in jobs] == len(jobs) // 2 * [7] + len(jobs) // 2 * [8]
    assert {job.request.settings["load"] for job in jobs} == {0.1}
    assert len({job.label for job in jobs}) == len(jobs)
    assert all(job.changed == {"load": 0.1} for job in jobs)
    reproduction = Reproduction(experiment="long-rtt", title="t", paper_place="p", scale="ci", claims=(), runs=(),
                                failures=(), notes=(), seeds=(7,), changed=("load=0.1",))  # fmt: skip
    assert reproduction.command == "./runner.py reproduce long-rtt --scale ci --seed 7 --set load=0.1"
    several = reproduction.model_copy(update={"seeds": (7, 8)})
    assert several.command == "./runner.py reproduce long-rtt --scale ci --seeds 7,8 --set load=0.1"


def test_a_claim_over_seeds_has_the_median_and_the_range() -> None:
    claim = Bound("c", "p", Quantity("figure", lambda run: run.figure), "sfc", at_most=5)  # type: ignore[attr-defined]
    experiment = replace(EXPERIMENTS["theory"], claims=(claim, replace(claim, at_most=9), replace(claim, at_most=1)))

    def results(figure: float) -> Results:
        return Results("ci", (Measurement(Point("sfc"), SimpleNamespace(figure=figure)),))  # type: ignore[arg-type]

    rows = findings(experiment, [results(4.0), results(8.0), results(2.0)])
    assert [row.outcome for row in rows] == ["depends on the seed", "holds", "fails"]
    assert (rows[0].value, rows[0].values) == (4.0, (4.0, 8.0, 2.0))
    assert rows[0].measured == "4 (required: at most 5); 2 to 8 over 3 seeds"
    [row] = findings(replace(experiment, claims=(claim,)), [results(4.0), results(4.0)])
    assert row.measured == "4 (required: at most 5); the same over 2 seeds"
    [row] = findings(replace(experiment, claims=(claim,)), [results(4.0001), results(4.0)])
    assert row.measured == "4 (required: at most 5); 4 over 2 seeds"
    [row] = findings(replace(experiment, claims=(claim,)), [results(4.0), Results("ci", ())])
    assert (row.outcome, row.value) == ("depends on the seed", None)
    assert row.measured == "not measured: sfc was not run"

    def several(results: Results) -> Measured:
        figure = results.measurements[0].run.figure  # type: ignore[attr-defined]
        return Measured(figure / 2, figure > 4, f"{figure} and 2", None)

    [row] = findings(replace(experiment, claims=(Judged("c", "p", several),)), [results(4), results(8)])
    assert (row.outcome, row.measured) == ("depends on the seed", "8 and 2")


def test_a_claim_counts_only_at_the_scales_at_which_it_can_fail() -> None:
    claims = {
        scale: {row.claim for row in findings(EXPERIMENTS["resources"], [Results(scale, ())])}
        for scale in ("ci", "paper")
    }
    assert claims["paper"] - claims["ci"] == {
        "The suppression filter holds fewer than 110 flows",
        "A pause cache holds fewer than 15 destinations",
    }


def test_all_gives_each_experiment_the_settings_that_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    settings = {"arrivals_us": 1000, "transport.ack_priority": "data"}
    changed = settings_of(tuple(EXPERIMENTS), settings)
    assert (changed["hadoop-50"], changed["theory"]) == (settings, {"transport.ack_priority": "data"})
    say_left_out(changed, settings)
    output = capsys.readouterr().err
    assert output.startswith("--set arrivals_us=1000: used by incast-degree, ")
    assert len(output.splitlines()) == 1
    names = (
        output.partition(": used by ")[2].partition("; the other experiments do not have this setting")[0].split(", ")
    )
    assert names == [name for name, own in changed.items() if own == settings]
    for name, own in changed.items():
        assert all(job.changed == own for job in jobs_of(EXPERIMENTS[name], "paper", changed=own))


def test_each_run_gets_the_congestion_parameters_that_its_congestion_control_has(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """NDP has no preset, SFC with HPCC has one; the runs of `testbed-incast` keep their own parameters."""
    settings = {"transport.congestion_parameters": {"preset": "mix/config.txt"}}
    changed = settings_of(tuple(EXPERIMENTS), settings)
    assert (changed["ndp"], changed["theory"]) == (settings, {})
    assert settings_of(tuple(EXPERIMENTS), {CONGESTION: {}})["theory"] == {CONGESTION: {}}
    jobs = jobs_of(EXPERIMENTS["ndp"], "ci", changed=settings)
    assert {job.point.scheme: job.request.settings.get(CONGESTION) for job in jobs} == {
        "ndp": None,
        "sfc+hpcc": {"preset": "mix/config.txt"},
    }
    say_schemes_left_out(jobs)
    assert capsys.readouterr().err == "runs of ndp use no preset: their congestion controls have no such parameter\n"
    first = jobs_of(EXPERIMENTS["testbed-incast"], "ci", changed=settings)[0]
    assert first.request.settings[CONGESTION] == {"window_based": True, "preset": "mix/config.txt"}


def test_a_congestion_parameter_that_no_run_has_is_kept_for_the_plan_to_refuse() -> None:
    settings = {"transport.congestion_parameters": {"presett": 1}}
    assert all(
        job.request.settings[CONGESTION] == {"presett": 1}
        for job in jobs_of(EXPERIMENTS["ndp"], "ci", changed=settings)
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.long
def test_an_interrupted_command_leaves_no_process_and_resumes(number: signal.Signals, tmp_path: Path) -> None:
    """Complete runs are not made again, and after a third command none is left to make."""
    words = ("reproduce", "theory", "--out", str(tmp_path))
    runs = len(list(EXPERIMENTS["theory"].grids["ci"].points()))
    process = running.started(*words, "--json")
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(f"2/{runs}"):
            break
    workers = running.children_of(process.pid)
    assert workers
    process.send_signal(number)
    output, _ = process.communicate(timeout=120)
    assert running.are_gone(workers)
    assert output == ""
    assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
    before = {path: path.stat().st_mtime_ns for path in found(tmp_path, "reproduction-runs/*/result.json")}
    assert 2 <= len(before) < runs
    resumed = running.run(*words)
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stderr.startswith(f"{runs} runs, {len(before)} of them complete in {tmp_path}/reproduction-runs; ")
    assert resumed.stdout.endswith("5 of ours: 5 hold\n")
    assert len(found(tmp_path, "reproduction-runs/*/result.json")) == runs
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert running.run(*words).stderr == f"{runs} runs, {runs} of them complete in {tmp_path}/reproduction-runs\n"


@pytest.mark.long
def test_a_cluster_of_two_workers_runs_the_same_jobs(tmp_path: Path) -> None:
    """A later command on this machine alone has nothing left to run."""
    words = ("reproduce", "theory", "--out", str(tmp_path / "runs"))
    with running.dask_cluster(tmp_path, workers=2) as address:
        done = running.run(*words, "--scheduler", address)
    assert done.returncode == 0, done.stderr
    assert ", 2 runs at a time\n" in done.stderr
    assert done.stdout.endswith("5 of ours: 5 hold\n")
    assert "17 of them complete" in running.run(*words).stderr
