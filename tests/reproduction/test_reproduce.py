# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reproducing an experiment: its folder, its exit codes, and that broken runs make claims fail."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from analysis.results.stored import load_run
from command.verbs.reproduce import say_left_out, settings_of
from reproduction.catalogue import EXPERIMENTS
from reproduction.document import below, document
from reproduction.jobs import jobs_of
from reproduction.judge import findings
from reproduction.model.experiment import Measurement, Point, Results
from reproduction.record import Reproduction
from reproduction.remarks import read_remarks
from testbed.execution.execute import execute
from testbed.plan.plan import RunRequest, plan_run
from testbed.recording.outcome import Silent
from tests.testbed.running import are_gone, children_of, hear_interrupts

ROOT = Path(__file__).resolve().parent.parent.parent


def _reproduce(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "runner.py"), "reproduce", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=280)


@pytest.mark.long
def test_theory_holds_within_one_packet_or_the_reason(tmp_path: Path) -> None:
    """The five bounds of appendix C against what was measured, by the command, with its whole folder."""
    done = _reproduce("theory", "--json", "--strict", "--out", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert (found["experiment"], found["scale"]) == ("theory", "ci")
    assert len(found["claims"]) == 5
    assert all({"claim", "paper", "measured", "holds"} <= claim.keys() for claim in found["claims"])
    assert all(claim["holds"] is True for claim in found["claims"])
    [folder] = tmp_path.glob("theory-ci-reproduction-*")
    assert {"reproduction.json", "report.html", "claims.csv", "runs.csv"} <= {path.name for path in folder.iterdir()}
    [(summary, _)] = below([tmp_path])
    _is_judged_again(folder)
    text = document([summary], {}, {})
    assert "| theory" in text.replace("[theory](#theory)", "theory")
    assert all(claim["measured"].replace("|", "\\|") in text for claim in found["claims"])


def _is_judged_again(folder: Path) -> None:
    """`report` holds the claims against the stored runs anew: a figure that somebody wrote over is put right."""
    path = folder / "reproduction.json"
    before = path.read_text()
    path.write_text(before.replace(json.loads(before)["claims"][0]["measured"], "whatever one likes"))
    done = subprocess.run(
        [sys.executable, str(ROOT / "runner.py"), "report", str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read"),
        ('{"schema": "other/1"}', "not a reproduction of this release"),
        ('{"schema": "sfc-testbed/reproduction/1"}', "cannot be read"),
    ],
)
def test_a_damaged_reproduction_is_one_line(content: str, words: str, tmp_path: Path) -> None:
    """And exit 2."""
    (tmp_path / "reproduction.json").write_text(content)
    done = subprocess.run(
        [sys.executable, str(ROOT / "runner.py"), "report", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


def _synchronization(tmp_path: Path, *, broken: bool) -> dict[str, bool]:
    """Findings of the synchronization experiment over three of its places; broken: SFC's switches never signal."""
    experiment = EXPERIMENTS["synchronization"]
    wanted = {("irn+hpcc", 0), ("irn+hpcc", 100), ("sfc+hpcc", 0), ("sfc+hpcc", 100)}
    measurements = []
    for job in jobs_of(experiment, "ci"):
        sync, degree = job.point.place.values()
        if (job.point.scheme, sync) not in wanted or degree != 32:
            continue
        settings = job.request.settings
        if broken and job.point.scheme.startswith("sfc"):
            settings = (*settings, "switch.q_th_bytes=900000000", "switch.pause_cache=false")
        request = RunRequest(
            "synchronization", scheme=job.request.scheme, clock="virtual", scale="ci", settings=settings
        )
        measurements.append(Measurement(job.point, load_run(execute(plan_run(request), tmp_path, Silent()).folder)))
    rows = findings(experiment, Results("ci", tuple(measurements)))
    return {row.claim: row.holds for row in rows}


@pytest.mark.long
def test_broken_thresholds_make_claims_fail(tmp_path: Path) -> None:
    """The same claims, the same flows: with SFC as it is they hold, without its signals they do not."""
    works, broken = (_synchronization(tmp_path / str(each), broken=each) for each in (False, True))
    for claim in (
        "SFC's peak is below that without flow control everywhere",
        "SFC gains more the less synchronized an incast is",
    ):
        assert works[claim], claim
    assert not broken["SFC gains more the less synchronized an incast is"]
    assert not all(broken.values())


@pytest.mark.long
def test_a_disabled_cache_makes_its_claim_fail(tmp_path: Path) -> None:
    """`signaling`: the cache lowers the queue further, unless it is off."""
    experiment = EXPERIMENTS["signaling"]
    claim = next(each for each in experiment.claims if "cache" in each.claim)
    point = next(each for each in experiment.grids["ci"].points() if each.scheme == "ingress-bts+window")
    job = next(each for each in jobs_of(experiment, "ci") if each.point == point)
    plan = plan_run(RunRequest("signaling", scheme="sfc+window", clock="virtual", seed=1,
                               settings=(*job.request.settings, "switch.pause_cache=false")))  # fmt: skip
    without_cache = load_run(execute(plan, tmp_path, Silent()).folder)
    ingress = load_run(execute(plan_run(job.request), tmp_path, Silent()).folder)
    results = Results("ci", (Measurement(point, ingress), Measurement(Point("sfc+window", point.place), without_cache)))
    assert not claim.check(results).holds


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nothing"], "no experiment 'nothing'; there are all, signaling"),
        (["theory", "--scale", "huge"], "has no scale 'huge'"),
        (["theory", "--clock", "wall"], "no clock 'wall'"),
        (["theory", "--set", "arrivals_us=1000"], "arrivals_us: there is no such setting"),
        (
            ["all", "--set", "arrival_us=1000"],
            "--set arrival_us: no experiment has such a setting; nearest: arrivals_us",
        ),
        (["all", "--set", "arrivals_us"], "--set 'arrivals_us' is not of the form key=value"),
        (["all", "--set", "colour.red=1"], "a key is NAME or one of"),
        (["all", "--set", "switch.colour=1"], "switch: colour: there is no such setting"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path, words: list[str], expected: str) -> None:
    """Nothing is started."""
    done = _reproduce(*words, "--out", str(tmp_path))
    assert done.returncode == 2
    assert expected in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_remarks_speak_of_claims_that_there_are() -> None:
    """A remark on a claim that was renamed would never be shown."""
    for name, remarks in read_remarks().items():
        assert set(remarks) <= {claim.claim for claim in EXPERIMENTS[name].claims}, name


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_runs_that_tested_a_reason_can_be_made(name: str) -> None:
    """Today, as they are written: of each the first is planned."""
    for words in sorted({run for remark in read_remarks().get(name, {}).values() for run in remark.runs}):
        verb, what, *options = shlex.split(words)
        assert what == name
        given = dict(zip(options[::2], options[1::2], strict=True))
        changed = [value for option, value in zip(options[::2], options[1::2], strict=True) if option == "--set"]
        assert set(given) <= {"--set", "--scale", "--scheme", "--clock", "--seed", "--duration"}
        if verb == "reproduce":
            seed = int(given["--seed"]) if "--seed" in given else None
            [first, *_] = jobs_of(EXPERIMENTS[what], given["--scale"], seed=seed, changed=changed)  # type: ignore[arg-type]
            plan_run(first.request)
        else:
            assert (verb, given["--clock"]) == ("run", "virtual")
            request = RunRequest(what, given["--scheme"], clock="virtual", scale=given["--scale"], settings=changed)
            duration_ms = float(given["--duration"]) if "--duration" in given else None
            plan_run(replace(request, duration_ms=duration_ms))


def test_another_seed_and_other_settings_are_asked_for_again() -> None:
    """Of every run, and by the command that a finding names."""
    jobs = jobs_of(EXPERIMENTS["long-rtt"], "ci", seed=7, changed=("load=0.1",))
    asked = {(job.request.seed, job.request.settings[-1], job.changed) for job in jobs}
    assert asked == {(7, "load=0.1", ("load=0.1",))}
    found = Reproduction(experiment="long-rtt", title="t", paper_place="p", scale="ci", claims=(), runs=(), failures=(),
                         notes=(), seed=7, changed=("load=0.1",))  # fmt: skip
    assert found.command == "./runner.py reproduce long-rtt --scale ci --seed 7 --set load=0.1"


def test_of_all_each_experiment_is_given_what_it_has(capsys: pytest.CaptureFixture[str]) -> None:
    """A shorter time for those whose messages keep arriving; the line names the others, of which nothing is changed."""
    settings = ("arrivals_us=1000", "transport.ack_priority=data")
    changed = settings_of(tuple(EXPERIMENTS), settings)
    assert (changed["hadoop-50"], changed["theory"]) == (settings, settings[1:])
    say_left_out(changed, settings)
    said = capsys.readouterr().err
    assert said.startswith("--set arrivals_us=1000: used by incast-degree, ")
    assert len(said.splitlines()) == 1
    named = said.partition(": used by ")[2].partition("; the other experiments have no such setting")[0].split(", ")
    assert named == [name for name, own in changed.items() if own == settings]
    for name, own in changed.items():
        assert {job.changed for job in jobs_of(EXPERIMENTS[name], "paper", changed=own)} == {own}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.long
def test_nothing_outlives_the_command(number: signal.Signals, tmp_path: Path) -> None:
    """Sent to the command alone. After Ctrl-C the claims of what was done are there; runs cut short are no evidence."""
    command = [sys.executable, str(ROOT / "runner.py"), "reproduce", "theory", "--out", str(tmp_path), "--json"]
    runs = len(list(EXPERIMENTS["theory"].grids["ci"].points()))
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith(f"2/{runs}"):
            break
    workers = children_of(process.pid)
    assert workers
    process.send_signal(number)
    said, _ = process.communicate(timeout=120)
    assert are_gone(workers)
    if number == signal.SIGINT:
        assert process.returncode == 130
        found = json.loads(said)
        assert 2 <= len(found["runs"]) < runs
        assert len(found["failures"]) == runs - len(found["runs"])
        assert "interrupted" in found["failures"][-1]
