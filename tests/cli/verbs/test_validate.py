# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the command `validate`: refusals, exit status and output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from sfc_testbed.analysis.validation.record import (
    MetricFinding,
    ValidatedRun,
    Validation,
    read_validation,
    write_validation,
)
from sfc_testbed.cli.app import main
from sfc_testbed.cli.verbs import validate as verb
from sfc_testbed.documents.stored import PAIRS
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.validation.run import Pair, StoredValidation
from tests.appearing import await_file
from tests.conftest import Refused
from tests.testbed import running

_PEAK = MetricFinding(
    metric="peak_buffer_bytes", unit="B", virtual=1e6, live=1.5e6, difference=5e5, share=0.5, tolerance=5e4,
    within=False,
)  # fmt: skip
_RUN = ValidatedRun(
    scenario="incast", scheme="sfc", switch="soft", scale="ci", place="", seed=1, dilation=1, verdict="faithful",
    verdict_reasons=(), metrics=(_PEAK,), virtual_command="./runner.py run", live_command="./runner.py run",
    virtual_folder="a", live_folder="b", live_wall_s=1.0,
)  # fmt: skip
_WITHIN = _RUN.model_copy(update={"metrics": (_PEAK.model_copy(update={"live": 1e6, "within": True}),)})


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> StoredValidation:
    """Return the validation that the command gets. Nothing is run or drawn."""
    result = StoredValidation(Validation(runs=(_RUN,)), tmp_path / "incast-validation", False)
    result.folder.mkdir()
    write_validation(result.folder / "validation.json", result.validation)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(verb, "checked", lambda *_, **__: [])
    monkeypatch.setattr(verb, "write_validation_page", lambda folder, _, **__: folder / "report.html")
    return result


def _end(stored: StoredValidation, monkeypatch: pytest.MonkeyPatch, *words: str, **changes: object) -> int:
    """Return the exit status of the command for a validation with these changes."""
    validation = stored.validation.model_copy(update=changes)
    is_interrupted = "interrupted" in words

    def validate(pairs: Sequence[Pair], *_: object) -> StoredValidation:
        assert pairs
        return StoredValidation(validation, stored.folder, is_interrupted)

    monkeypatch.setattr(verb, "validate", validate)
    return main(["validate", "incast", *(word for word in words if word != "interrupted")])


def test_exit_codes(stored: StoredValidation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Status 3 for invalid runs takes precedence over 4 for `--strict`, and 130 takes precedence over both."""
    invalid = (_RUN.model_copy(update={"verdict": "invalid"}),)
    assert _end(stored, monkeypatch) == 0
    assert _end(stored, monkeypatch, "--strict") == 4
    assert _end(stored, monkeypatch, "--strict", runs=(_WITHIN,)) == 0
    assert _end(stored, monkeypatch, runs=invalid) == 3
    assert _end(stored, monkeypatch, "--strict", runs=invalid) == 3
    assert _end(stored, monkeypatch, runs=(_WITHIN,), failures=("incast irn, live: why",)) == 3
    assert _end(stored, monkeypatch, "--strict", "interrupted", runs=invalid) == 130


def test_json_is_alone_on_stdout(
    stored: StoredValidation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _end(stored, monkeypatch, "--json") == 0
    output = capsys.readouterr()
    assert output.err == ""
    printed = json.loads(output.out)
    assert printed.pop("folder") == str(stored.folder)
    assert printed == json.loads((stored.folder / "validation.json").read_text())
    assert printed["runs"][0]["metrics"][0]["difference"] == 5e5


def test_figures_outside_their_tolerance_and_failures_are_printed(
    stored: StoredValidation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _end(stored, monkeypatch, failures=("incast irn, live: it [bold]died",), left_out=("incast pfc: it cannot",))
    output = capsys.readouterr()
    assert "+50 %" in output.out
    assert "0 of 1" in output.out
    assert output.err.splitlines() == ["! failed: incast irn, live: it [bold]died", "! left out: incast pfc: it cannot"]


def test_pairs_that_take_too_long_are_excluded_and_the_duration_of_the_others_is_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[tuple[list[str], Sequence[str]]] = []

    def store(pairs: Sequence[Pair], left_out: Sequence[str], *_: object) -> StoredValidation:
        calls.append(([pair.label for pair in pairs], left_out))
        return StoredValidation(Validation(runs=(), left_out=tuple(left_out)), tmp_path, False)

    monkeypatch.setattr(verb, "validate", store)
    monkeypatch.setattr(verb, "checked", lambda requests, *_, **__: [plan_run(request) for request in requests])
    words = ("--schemes", "sfc+window,onramp+window", "--dilation", "10000", "--set", "message_bytes=100000")
    assert main(["validate", "signaling", *words, "--longest", "1"]) == 0
    place = "between ToRs (us) 3"
    assert calls == [([f"signaling sfc+window, {place}", f"signaling onramp+window, {place}"], [])]
    assert capsys.readouterr().err.startswith("2 live runs in sequence take about 11 s, the longest 6 s,")
    assert main(["validate", "signaling", *words, "--longest", "0.01"]) == 2
    assert len(calls) == 1
    assert capsys.readouterr().err.startswith(
        "runner.py: signaling sfc+window, between ToRs (us) 3: its live run takes about 6 s at dilation 10000"
    )


def test_after_ctrl_c_one_line_says_what_is_kept(
    stored: StoredValidation, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _end(stored, monkeypatch, "interrupted") == 130
    output = capsys.readouterr()
    [line] = output.err.splitlines()
    assert line.startswith(f"runner.py: interrupted: 1 pair of runs compared (./runner.py report {stored.folder}); all")
    assert "+50 %" in output.out


@running.needs_mininet
def test_ctrl_c_ends_a_running_pair(tmp_path: Path) -> None:
    words = ("validate", "incast", "--schemes", "sfc", "--set", "message_bytes=200000000", "--out", str(tmp_path))
    process = running.started(*words)
    await_file(tmp_path, "*/incast-sfc-*/flows-input.csv", process)
    family = running.children_of(process.pid)
    process.terminate()
    stdout, stderr = process.communicate(timeout=180)
    assert process.returncode == 130, stderr
    kept_text = (
        "0 pairs of runs compared; all that was measured is in " if list(tmp_path.iterdir()) else "nothing was kept"
    )
    assert stderr.splitlines()[-1].startswith(f"runner.py: interrupted: {kept_text}")
    assert "Traceback" not in stdout + stderr
    assert running.are_gone(family)


def test_show_prints_stored_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    stored = read_validation(PAIRS).runs
    assert main(["validate", "--show", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == [run.model_dump(mode="json") for run in stored]
    assert main(["validate", "--show"]) == 0
    assert "switch bmv2, scale ci" in capsys.readouterr().out
    assert main(["validate", "incast", "--show"]) == 0
    shown = capsys.readouterr().out
    commands = {run.live_command for run in stored if run.scenario == "incast" and not run.dilation_given}
    assert commands <= set(shown.splitlines())
    assert "error against lateness" in shown


def test_show_prints_stored_cases_of_a_simulator(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "--peer", "htsim", "--show", "--json"]) == 0
    assert {run["peer"] for run in json.loads(capsys.readouterr().out)["runs"]} == {"htsim"}
    assert main(["validate", "hadoop-50", "--peer", "hpcc-simulator", "--show"]) == 0
    assert "hadoop-50, 32 hosts, one spine, pfc+hpcc: FCT slowdown, ours / HPCC simulator" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("--seed", "3"), "--show prints stored comparisons and runs nothing: leave out --seed"),
        (("--peer", "htsim", "--retry", "--set", "a=1"), "leave out --retry, --set"),
        (("nowhere",), "--show: no comparison of 'nowhere' is stored; choose from incast, "),
        (("incast", "--peer", "nothing"), "unknown simulator 'nothing'"),
    ],
)
def test_show_refuses_in_one_line(words: Sequence[str], reason: str, refused: Refused) -> None:
    refused(["validate", "--show", *words], reason)
