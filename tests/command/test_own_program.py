# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`--p4` as a person uses it: a program that does something else, beside ours; refusals that start nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from analysis.results.comparison import Comparison
from analysis.results.stored import load_run
from command.app import main
from reproduction.catalogue import EXPERIMENTS
from reproduction.document import below
from reproduction.jobs import jobs_of as experiment_jobs
from reproduction.record import Reproduction, read_reproduction
from reproduction.validation import Wish, pairs_of
from testbed.jobs.job import JOB, Job
from testbed.plan.config import program_config
from testbed.plan.request import RunRequest
from testbed.program.given import program_given
from testbed.sweep.sweep import jobs_of, read_sweep
from tests.testbed.program.own import OURS, early, renamed

SMALL = ("incast", "--clock", "virtual", "--set", "degree=7", "--set", "message_bytes=250000")
SWEEP = "name: small\nscenario: incast\nschemes: [sfc]\nsettings: {degree: 2, message_bytes: 5000}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command is typed, and a program that does what ours does but is told otherwise."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "early.json").write_text(early())
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path


CLAIMS = """
from reproduction.model.claims import Ratio
from reproduction.model.quantities import PEAK_BUFFER

CLAIMS = (
    Ratio("it holds less", "less", PEAK_BUFFER, scheme="sfc (early)", base="sfc", at_most=0.8),
    Ratio("it holds nearly nothing", "a hundredth", PEAK_BUFFER, scheme="sfc (early)", base="sfc", at_most=0.01),
)
"""


def test_a_program_runs_beside_ours_and_does_something_else(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An earlier trigger holds less. Tables, pages, folders, results, configurations and claims tell them apart."""
    (folder / "claims.py").write_text(CLAIMS)
    words = ("--schemes", "sfc", "--p4", "built-in", "--p4", "early.json", "--claims", "claims.py")
    assert main(["compare", *SMALL, *words, "--strict", "--json", "--out", "runs"]) == 4
    comparison = Comparison.model_validate_json(capsys.readouterr().out)
    ours, own = comparison.rows
    assert (ours.label, own.label, own.scheme) == ("sfc", "sfc (early)", "sfc")
    assert own.bts_sent and ours.bts_sent and own.bts_sent > ours.bts_sent
    assert [each.holds for each in comparison.claims] == [True, False]
    assert comparison.warnings == ()
    assert comparison.meaning[0].startswith("sfc (early) compared with sfc: ")
    [run] = [load_run(path) for path in (folder / "runs").glob("incast-sfc-early-*")]
    given = program_given("early.json")
    assert given is not None
    assert run.result.program == "early"
    assert run.config["program"] == {"name": "early", "path": str(folder / "early.json"), "sha256": given.sha256}
    assert run.command.endswith("--p4 early.json")
    for page in (run.folder / "report.html", *(folder / "runs").glob("incast-compare-*/report.html")):
        assert given.sha256 in page.read_text()
        assert "sfc (early)" in page.read_text()
    assert "it holds nearly nothing" in page.read_text()


WORDS: dict[str, tuple[str, ...]] = {
    "run": ("incast", "--clock", "virtual"),
    "compare": ("incast", "--clock", "virtual"),
    "validate": ("incast",),
    "reproduce": ("theory",),
    "sweep": ("sweep.yaml",),
    "cli": (),
}


@pytest.mark.parametrize("verb", WORDS)
@pytest.mark.parametrize("program", ["nothing.json", "no-trigger.json"])
def test_what_cannot_run_is_refused_in_a_line(
    verb: str, program: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, nothing started or written, whichever verb it is."""
    (folder / "no-trigger.json").write_text(renamed('"SfcIngress.bts.bts_trigger"', '"SfcIngress.bts.trigger"'))
    before = sorted(folder.rglob("*"))
    assert main([verb, *WORDS[verb], "--p4", program]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    [line] = said.err.splitlines()
    assert line.startswith(
        f"runner.py: --p4 {program}: {'No such' if program == 'nothing.json' else 'the program has'}"
    )
    assert sorted(folder.rglob("*")) == before


def test_what_softswitch_cannot_do_is_refused_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the name of what it does not know."""
    program = json.loads(OURS)
    program["extern_instances"] = [{"name": "mine", "id": 0, "type": "Abacus", "attribute_values": []}]
    (folder / "x.json").write_text(json.dumps(program))
    assert main(["run", *SMALL, "--p4", "x.json"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("runner.py: --p4 x.json: softswitch cannot run it: extern instance 'mine' of type 'Abacus'")
    assert not (folder / "runs").exists()


def test_validate_gives_the_program_to_both_clocks() -> None:
    """And names the pair by it."""
    given = program_given("early.json")
    [pair], _ = pairs_of(Wish("incast", ("sfc",), program=given))
    assert pair.live.program == pair.virtual.program == given
    assert pair.label == "incast sfc (early)"


def test_a_sweep_with_a_program_stands_beside_the_one_with_ours(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a folder of its own; runs, sweep.json and page tell the program, and what is done is not done again."""
    given = program_given("early.json")
    assert given is not None
    ours, own = (folder / "runs" / name for name in ("small", "small+early"))
    for _ in range(2):
        assert main(["sweep", "sweep.yaml", "--p4", "early.json", "--workers", "1"]) == 0
    assert re.findall(r"(\d) run now, (\d) already complete", capsys.readouterr().out) == [("1", "0"), ("0", "1")]
    assert not ours.exists()
    [run] = [load_run(path) for path in own.glob("jobs/sfc,p4-early,seed-1.*")]
    assert run.config["program"] == program_config(given).model_dump()
    assert json.loads((own / "sweep.json").read_text())["program"]["sha256"] == given.sha256
    assert f"P4 program of the switches: {given.path}, SHA-256 {given.sha256}." in (own / "report.html").read_text()


def test_a_program_that_changed_makes_other_jobs(folder: Path) -> None:
    """By its content alone: under another name the same program has the same runs, another under the same has not."""
    (folder / "same.json").write_text(early())
    sweep = read_sweep(folder / "sweep.yaml")

    def keys(word: str | None) -> set[str]:
        return {job.key for job in jobs_of(sweep, program_given(word))}

    ours, before = keys(None), keys("early.json")
    assert keys("same.json") == before
    (folder / "early.json").write_text(OURS)
    assert not keys("early.json") & before
    assert not (keys("early.json") | before) & ours


def test_an_experiment_with_a_program_reproduces_nothing(folder: Path) -> None:
    """Every run of it has the program; what was found says so, and so does the command that repeats it."""
    given = program_given("early.json")
    assert given is not None
    jobs = experiment_jobs(EXPERIMENTS["theory"], "ci", program=given)
    assert {job.request.program for job in jobs} == {given}
    told = {"experiment": "theory", "title": "t", "paper_place": "p", "scale": "ci", "claims": (), "runs": (),
            "failures": (), "notes": ()}  # fmt: skip
    found = Reproduction.model_validate({**told, "program": program_config(given)})
    assert found.command == f"./runner.py reproduce theory --scale ci --seed 1 --p4 {folder / 'early.json'}"
    assert found.departures == (f"P4 program {folder / 'early.json'}, SHA-256 {given.sha256}",)
    for name, each in (("with", found), ("without", Reproduction.model_validate(told))):
        (folder / name).mkdir()
        (folder / name / "reproduction.json").write_text(each.model_dump_json(by_alias=True))
    assert read_reproduction(folder / "with").reproduction == found
    assert [stored.folder.name for _, stored in below([folder])] == ["without"]


def test_a_program_travels_with_its_job(tmp_path: Path) -> None:
    """Whole, and a tenth as long: there may be thousands of jobs."""
    given = program_given("early.json")
    assert given is not None
    job = Job("label", RunRequest("incast", program=given), tmp_path)
    words = JOB.dump_json(job)
    assert JOB.validate_json(words).request.program == given
    assert len(words) < len(given.text) / 10
