# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`--p4` as a person uses it: a program that does something else, beside ours; refusals that start nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.results.comparison import Comparison
from analysis.results.stored import load_run
from command.app import main
from reproduction.validation import Wish, pairs_of
from testbed.program.given import program_given
from tests.testbed.program.own import OURS, early, renamed

SMALL = ("incast", "--clock", "virtual", "--set", "degree=7", "--set", "message_bytes=250000")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command is typed, and a program that does what ours does but is told otherwise."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "early.json").write_text(early())
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
    assert comparison.meaning[0].startswith("sfc (early) against sfc: ")
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


@pytest.mark.parametrize("verb", ["run", "compare", "validate", "cli"])
@pytest.mark.parametrize("program", ["nothing.json", "no-trigger.json"])
def test_what_cannot_run_is_refused_in_a_line(
    verb: str, program: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit 2, nothing started or written, whichever verb it is."""
    (folder / "no-trigger.json").write_text(renamed('"SfcIngress.bts.bts_trigger"', '"SfcIngress.bts.trigger"'))
    before = sorted(folder.rglob("*"))
    scenario = [] if verb == "cli" else ["incast"]
    clock = ["--clock", "virtual"] if verb in ("run", "compare") else []
    assert main([verb, *scenario, *clock, "--p4", program]) == 2
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
