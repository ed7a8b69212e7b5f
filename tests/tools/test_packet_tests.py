# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of `python -m tools.packet_tests`."""

import csv
import shutil
from pathlib import Path

import pytest

from softswitch.stf.engine_target import EngineTarget
from softswitch_tests.pipeline.harness import PROGRAMS
from tools import bmv2_target, packet_tests

GOOD = "packet 2 00000000 aa\nexpect 1 00000000 aa $\n"
BAD = "packet 2 00000000 aa\nexpect 1 00000000 ab $\n"
ASSERTION = "packet 1 090000000000\n"
P4TESTGEN = """#!/bin/sh
echo "$@" > "$0.arguments"
while [ "$1" != --out-dir ]; do shift; done
cp "$0".tests/*.stf "$2"
echo "In file: small_step/extern_stepper.cpp:341" >&2
echo "Unimplemented P4Testgen support: some.p4(3): extern method: increment" >&2
echo "    ^^^^^" >&2
exit 1
"""
"""A program in place of P4Testgen, which writes the tests of a folder, and then fails."""


@pytest.fixture(autouse=True)
def without_bmv2(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bmv2_target, "missing", lambda: "not used here")


def program(folder: Path, name: str, test: str | None = None) -> str:
    """Copy a compiled program into a folder, write its test beside it, and return the path of the program."""
    if test is not None:
        (folder / f"{name}.stf").write_text(test)
    return shutil.copy(str(PROGRAMS / f"{name}.json"), str(folder))


def rows(path: Path) -> list[tuple[str, str, str]]:
    with path.open(newline="") as file:
        return [(row["test"], row["softswitch"], row["reason"]) for row in csv.DictReader(file)]


def test_results_of_the_tests_beside_the_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results.csv"
    programs = [program(tmp_path, "again", BAD), program(tmp_path, "checked", ASSERTION)]
    assert packet_tests.main([str(out), *programs]) == 0
    assert capsys.readouterr().out == "2 programs with 2 tests\n     1  crashed\n     1  failed\n"
    different = "line 2: port 1, after the packet of line 1: byte 4 is aa, not ab"
    assert rows(out) == [
        ("again.stf", "failed", different),
        ("checked.stf", "crashed", "softswitch: assert failed: checked.p4:17"),
    ]


def test_failed_tests_run_on_bmv2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second softswitch stands for BMv2, which few machines have."""
    monkeypatch.setattr(bmv2_target, "missing", lambda: None)
    monkeypatch.setattr(bmv2_target, "Bmv2Target", EngineTarget)
    different = "line 2: port 1, after the packet of line 1: byte 4 is aa, not ab"
    wrong = "line 1: port '' is not a number"
    ghost = "line 1: refused: mc_node_associate 9 0: mc_node_associate: the node or the group does not exist"
    for text, ours, theirs, reason in (
        (GOOD, "passed", "", ""),
        (BAD, "failed", "failed", f"{different} | BMv2: {different}"),
        ("packet\n", "refused", "", f"softswitch.stf: {wrong} | not run on BMv2: {wrong}"),
        ("mc_node_associate 9 0\n", "refused", "refused", f"softswitch.stf: {ghost} | BMv2: {ghost}"),
    ):
        [row] = packet_tests.results(Path(program(tmp_path, "again", text)), None)
        assert (row.softswitch, row.bmv2, row.reason) == (ours, theirs, reason)


def test_programs_with_results_are_not_tested_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "results.csv"
    again = program(tmp_path, "again", GOOD)
    packet_tests.main([str(out), again])
    (tmp_path / "again.stf").write_text(BAD)
    packet_tests.main([str(out), again, program(tmp_path, "l3", "packet\n")])
    assert capsys.readouterr().out.endswith("2 programs with 2 tests\n     1  passed\n     1  refused\n")
    assert [row[:2] for row in rows(out)] == [("again.stf", "passed"), ("l3.stf", "refused")]


def test_programs_of_a_folder_are_those_for_v1model(tmp_path: Path) -> None:
    for name, include in (("a", "v1model.p4"), ("b", "v1model.p4"), ("c", "psa.p4")):
        (tmp_path / f"{name}.p4").write_text(f"#include <{include}>\n")
    for name in ("b", "c"):
        (tmp_path / f"{name}.stf").touch()
    names = {
        generate: [program.stem for program in packet_tests.programs_of(tmp_path, generate)]
        for generate in (False, True)
    }
    assert names == {False: ["b"], True: ["a", "b"]}


def test_what_is_missing_is_named_before_any_test(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    out, again = tmp_path / "results.csv", program(tmp_path, "again", GOOD)
    (tmp_path / "source.p4").touch()
    cases = {
        "there is no program": [str(out), again, str(tmp_path / "absent.json")],
        "no p4c-bm2-ss on the PATH": [str(out), str(tmp_path / "source.p4")],
        "no p4testgen on the PATH": [str(out), again, "--generate"],
        "No such file": [str(tmp_path / "absent" / "results.csv"), again],
    }
    for complaint, words in cases.items():
        assert packet_tests.main(words) == 2
        assert complaint in capsys.readouterr().err
    assert not out.exists()


def test_p4testgen_makes_the_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = tmp_path / "bin" / "p4testgen"
    tests = Path(f"{generator}.tests")
    tests.mkdir(parents=True)
    generator.write_text(P4TESTGEN)
    generator.chmod(0o755)
    monkeypatch.setenv("PATH", f"{generator.parent}:/usr/bin:/bin")
    path = Path(program(tmp_path, "again"))
    [without] = packet_tests.results(path, 2)
    assert (without.softswitch, without.reason) == (
        "no tests",
        "Unimplemented P4Testgen support: some.p4(3): extern method: increment",
    )
    generator.write_text(
        "#!/bin/sh\necho 'x.p4(4):syntax error, unexpected ;' >&2\n echo ' ^^' >&2\n"
        "echo '[--Werror=overlimit] error: 1 errors encountered' >&2\nexit 1\n"
    )
    assert packet_tests.results(path, 2)[0].reason == "x.p4(4):syntax error, unexpected ;"
    generator.write_text(P4TESTGEN)
    for name, text in (("again_1", GOOD), ("again_2", BAD), ("again_3", GOOD)):
        (tests / f"{name}.stf").write_text(text)
    made = packet_tests.results(path, 3)
    assert [(row.test, row.softswitch) for row in made] == [
        ("again_1.stf", "passed"),
        ("again_2.stf", "failed"),
        ("again_3.stf", "passed"),
    ]
    arguments = Path(f"{generator}.arguments").read_text()
    assert "--test-backend STF --seed 1000 --max-tests 3 " in arguments
    assert arguments.endswith(f" {path}\n")
