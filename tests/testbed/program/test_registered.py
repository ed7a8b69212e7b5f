# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of P4 programs that extensions add: their settings become entries of their own tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sfc_testbed.cli.app import main
from sfc_testbed.place import ROOT
from sfc_testbed.request.extensions import use
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.control_plane.entries import TableEntry
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.program.user_program import read_program
from sfc_testbed.testbed.sweep.effect import effect_digest
from tests.extended import write_extension
from tests.testbed import running

pytestmark = pytest.mark.usefixtures("no_extensions")

EXAMPLE = ROOT / "examples" / "own_switch_program.py"


def _plan(**settings: object) -> RunPlan:
    use(EXAMPLE)
    request = RunSpec("incast", clock="virtual", settings=settings, program=read_program("shifted"))
    return plan_run(request)


def _own(plan: RunPlan) -> dict[str, tuple[object, ...]]:
    return {
        switch: command.parameters
        for switch, commands in plan.commands.items()
        for command in commands
        if isinstance(command, TableEntry) and command.table == "q_th_shift"
    }


def test_settings_become_entries_and_stand_in_the_configuration() -> None:
    plan = _plan(**{"program.q_th_shift": 3, "program.only_tors": True})
    assert _own(plan) == {"tor1": (3,), "tor2": (3,)}
    assert plan.config.program_settings == {"q_th_shift": 3, "only_tors": True}
    assert plan.config.variant == "sfc (shifted)"
    assert set(_own(plan.at_dilation(50))) == {"tor1", "tor2"}
    digests = {
        effect_digest(_plan(**{"program.q_th_shift": bits}).spec, _plan(**{"program.q_th_shift": bits}))
        for bits in (1, 2)
    }
    assert len(digests) == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"program.q_th_shift": 99}, "program shifted: q_th_shift: must be at most 31, not 99"),
        ({"program.shift": 1}, "program shifted: shift: there is no such setting"),
    ],
)
def test_bad_settings_are_one_line(settings: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        _plan(**settings)


def test_settings_need_a_program_of_an_extension() -> None:
    with pytest.raises(UsageError, match=r"--set program\.x: only the P4 program of an extension has settings"):
        plan_run(RunSpec("incast", clock="virtual", settings={"program.x": 1}))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("    yield sfc.TableEntry('gone', 'x')\n", "--p4 own: the program has no table 'gone'"),
        ("    yield 'table_add'\n", "switch program own: str is no TableEntry"),
        ("    yield 1 / 0\n", r"switch program own: ZeroDivisionError: division by zero \(.*mine.py:5\)"),
    ],
)
def test_errors_of_the_function_are_one_line(body: str, message: str, tmp_path: Path) -> None:
    program = ROOT / "examples" / "p4" / "own_table.json"
    text = (
        f"import sfc_testbed as sfc\n\n@sfc.switch_program('own', {str(program)!r})\ndef entries(*of_switch):\n{body}"
    )
    use(write_extension(tmp_path, text))
    with pytest.raises(UsageError, match=message):
        plan_run(RunSpec("incast", clock="virtual", program=read_program("own")))


def test_the_entry_changes_what_switches_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A lower threshold gives a lower peak, and a shift of 0 gives the traces of the testbed's own program."""
    peaks = []
    for more in ((), ("--p4", "shifted", "--set", "program.q_th_shift=0"), ("--p4", "shifted")):
        words = ("run", "incast", "--clock", "virtual", "--use", str(EXAMPLE), *more, "--json", "--out", str(tmp_path))
        assert main(words) == 0
        peaks.append(json.loads(capsys.readouterr().out)["max_buffer_bytes"])
    assert peaks[0] == peaks[1] > peaks[2]


@running.needs_mininet
def test_switches_of_a_live_run_have_the_entries(tmp_path: Path) -> None:
    words = ("incast", "--use", str(EXAMPLE), "--p4", "shifted", "--dilation", "20000", "--set", "degree=4")
    result = running.result_of(*words, "--out", str(tmp_path))
    assert (result["flows"]["completed"], result["program"]) == (4, "shifted")
