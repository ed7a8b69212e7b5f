# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for `--p4` on the command line: user programs beside the testbed's, and refusals that start nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from sfc_testbed.analysis.results.comparison import Comparison
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.cli.app import main
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.document.command import below
from sfc_testbed.reproduction.jobs import jobs_of as experiment_jobs
from sfc_testbed.reproduction.record import Reproduction, read_reproduction
from sfc_testbed.reproduction.validation import Wish, pairs_of
from sfc_testbed.request.spec import P4Program, RunSpec
from sfc_testbed.testbed.jobs.job import JOB, Job
from sfc_testbed.testbed.program.user_program import read_program
from sfc_testbed.testbed.sweep.sweep import jobs_of, read_sweep
from tests.conftest import Refused
from tests.testbed.program.own import OURS, early, renamed

SMALL = ("incast", "--clock", "virtual", "--set", "degree=7", "--set", "message_bytes=250000")
SWEEP = "name: small\nscenario: incast\nschemes: [sfc]\nsettings: {degree: 2, message_bytes: 5000}\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a temporary folder the current one, with a program that has an earlier trigger and a sweep file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "early.json").write_text(early())
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    return tmp_path


def _early() -> P4Program:
    program = read_program("early.json")
    assert program is not None
    return program


CLAIMS = """
from sfc_testbed.reproduction.model.claims import Ratio
from sfc_testbed.reproduction.model.quantities import PEAK_BUFFER

CLAIMS = (
    Ratio("it holds less", "less", PEAK_BUFFER, scheme="sfc (early)", base="sfc", at_most=0.8),
    Ratio("it holds nearly nothing", "a hundredth", PEAK_BUFFER, scheme="sfc (early)", base="sfc", at_most=0.01),
)
"""


def test_a_user_program_is_compared_with_the_testbeds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An earlier trigger needs less buffer. All outputs distinguish the two programs."""
    (folder / "claims.py").write_text(CLAIMS)
    words = ("--schemes", "sfc", "--p4", "built-in", "--p4", "early.json", "--claims", "claims.py")
    assert main(["compare", *SMALL, *words, "--strict", "--json", "--out", "runs"]) == 4
    printed = json.loads(capsys.readouterr().out)
    assert len(printed.pop("folders")) == 2
    assert Path(printed.pop("folder")).is_dir()
    comparison = Comparison.model_validate(printed)
    built_in, early_row = comparison.rows
    assert (built_in.label, early_row.label, early_row.scheme) == ("sfc", "sfc (early)", "sfc")
    assert early_row.bts_sent and built_in.bts_sent and early_row.bts_sent > built_in.bts_sent
    assert [claim.holds for claim in comparison.claims] == [True, False]
    assert comparison.warnings == ()
    assert comparison.meaning[0].startswith("sfc (early) compared with sfc: ")
    [run] = [load_run(path) for path in (folder / "runs").glob("incast-sfc-early-*")]
    user_program = _early()
    assert run.result.program == "early"
    assert run.config is not None
    assert run.config.program.as_dict() == {
        "name": "early",
        "path": str(folder / "early.json"),
        "sha256": user_program.sha256,
    }
    assert run.command.endswith("--p4 early.json")
    for page in (run.folder / "report.html", *(folder / "runs").glob("incast-compare-*/report.html")):
        assert user_program.sha256 in page.read_text()
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
def test_every_verb_refuses_a_missing_or_unfit_program(verb: str, program: str, folder: Path, refused: Refused) -> None:
    (folder / "no-trigger.json").write_text(renamed('"SfcIngress.bts.bts_trigger"', '"SfcIngress.bts.trigger"'))
    reason = "No such" if program == "nothing.json" else "the program has"
    refused([verb, *WORDS[verb], "--p4", program], f"runner.py: --p4 {program}: {reason}")


def test_a_program_with_an_extern_unknown_to_softswitch_is_refused(folder: Path, refused: Refused) -> None:
    program = json.loads(OURS)
    program["extern_instances"] = [{"name": "mine", "id": 0, "type": "Abacus", "attribute_values": []}]
    (folder / "x.json").write_text(json.dumps(program))
    reason = "softswitch cannot run it: extern instance 'mine' of type 'Abacus'"
    refused(["run", *SMALL, "--p4", "x.json"], f"runner.py: --p4 x.json: {reason}")


def test_validate_gives_the_program_to_both_clocks() -> None:
    user_program = _early()
    [pair], _ = pairs_of(Wish("incast", ("sfc",), program=user_program))
    assert pair.live.program == pair.virtual.program == user_program
    assert pair.label == "incast sfc (early)"


def test_a_sweep_with_a_user_program_has_a_separate_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    user_program = _early()
    built_in, early_sweep = (folder / "runs" / name for name in ("small", "small+early"))
    for _ in range(2):
        assert main(["sweep", "sweep.yaml", "--p4", "early.json", "--workers", "1"]) == 0
    assert re.findall(r"(\d) run now, (\d) already complete", capsys.readouterr().out) == [("1", "0"), ("0", "1")]
    assert not built_in.exists()
    [run] = [load_run(path) for path in early_sweep.glob("jobs/sfc,p4-early,seed-1.*")]
    assert run.config is not None and user_program is not None
    assert run.config.program.as_dict() == user_program.as_dict()
    assert json.loads((early_sweep / "sweep.json").read_text())["program"]["sha256"] == user_program.sha256
    page = (early_sweep / "report.html").read_text()
    assert f"P4 program of the switches: {user_program.path}, SHA-256 {user_program.sha256}." in page


def test_a_changed_program_makes_new_jobs(folder: Path) -> None:
    (folder / "same.json").write_text(early())
    sweep = read_sweep(folder / "sweep.yaml")

    def keys(word: str | None) -> set[str]:
        return {job.key for job in jobs_of(sweep, read_program(word))}

    built_in_keys, early_keys = keys(None), keys("early.json")
    assert keys("same.json") == early_keys
    (folder / "early.json").write_text(OURS)
    assert not keys("early.json") & early_keys
    assert not (keys("early.json") | early_keys) & built_in_keys


def test_an_experiment_with_a_user_program_is_no_reproduction(folder: Path) -> None:
    user_program = _early()
    jobs = experiment_jobs(EXPERIMENTS["theory"], "ci", program=user_program)
    assert {job.request.program for job in jobs} == {user_program}
    fields = {"experiment": "theory", "title": "t", "paper_place": "p", "scale": "ci", "claims": (), "runs": (),
              "failures": (), "notes": ()}  # fmt: skip
    with_program = Reproduction.model_validate({**fields, "program": replace(user_program, text="", word=None)})
    assert with_program.command == f"./runner.py reproduce theory --scale ci --seed 1 --p4 {folder / 'early.json'}"
    assert with_program.departures == (f"P4 program {folder / 'early.json'}, SHA-256 {user_program.sha256}",)
    for name, record in (("with", with_program), ("without", Reproduction.model_validate(fields))):
        (folder / name).mkdir()
        (folder / name / "reproduction.json").write_text(record.model_dump_json(by_alias=True))
    assert read_reproduction(folder / "with").reproduction == with_program
    assert [stored.folder.name for _, stored in below([folder])] == ["without"]


def test_a_job_contains_its_program_compressed_to_a_tenth(tmp_path: Path) -> None:
    """A sweep may have thousands of jobs, each with its program."""
    user_program = _early()
    job = Job("label", RunSpec("incast", program=user_program), tmp_path)
    words = JOB.dump_json(job)
    assert JOB.validate_json(words).request.program == user_program
    assert len(words) < len(user_program.text) / 10
