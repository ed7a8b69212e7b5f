# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The examples run and print the results that their texts describe."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sfc_testbed.cli.app import main
from tests.extended import nothing_remains
from tests.kernel import execute, needs_kernel
from tests.testbed import running

FOLDER = running.ROOT / "examples"
MOST_LINES = 60
NOT_EXECUTABLE = 126
LIVE = {
    "incast": r"deepest queue of tor2: [1-9]\d* bytes\n(h\d: .* us, slowdown [\d.]+\n){7}[1-9]\d* of [1-9]\d* BTS were",
    "broken_link": r"link is down: False\ndone now: True\n[1-9]\d* packets were sent again",
    "compare_schemes": r"irn: at most (\d+) KB in tor2\ningress-bts: at most (\d+) KB in tor2\nsfc: at most (\d+) KB",
    "application": r"idle network: .* in [\d.]+ us of model time\nbeside an incast: .* in [\d.]+ us",
}
VIRTUAL = {
    "first_run": r"peak buffer +541 KB(?s:.*)verdict: faithful\npage: .*report\.html",
    "compare_seeds": r"mean of 3 seeds(?s:.*)the\s+peak\s+buffer\s+is\s+smaller",
    "own_sizes": r"irn: a small message took up to 60\.3 us, .*\nsfc: a small message took up to 5\d\.\d us",
    "compare_congestion_controls": r"sfc\+halving  faithful(?s:.*)sfc\+halving: the smallest window of any flow",
    "training_step": r"(alone, \w+: the step took 229\.\d us.*\n){2}(with an incast, .* took 291\.\d us.*\n){2}",
    "link_failure": r"pfc, no fault: .* 185 us, 0 packets(?s:.*)sfc, broken link: .* after \d+ us, [1-9]\d* packets",
    "p4_variant": r"sfc \(early\)(?s:.*)the\s+peak\s+buffer\s+is\s+smaller(?s:.*)the\s+peak\s+buffer\s+is\s+larger",
    "sweep_error_bars": r"irn +12 +3 (?s:.*)degrees\.pdf has the figure",
    "plot_queues": r"tor2(?s:.*)queues\.png has the figure",
    "one_flow": r"times its ideal time(?s:.*)┆ tor2(?s:.*)cwnd_bytes",
    "own_formula": r"(\d senders: measured (\d+)\.\d us, formula \2\.\d us\n){3}",
}
FILES_OF_USE = ("own_congestion_control", "own_switch_program", "own_topology", "own_workload")
TESTS = ("test_claim",)
SCRIPTS = (*LIVE, *VIRTUAL, *FILES_OF_USE, *TESTS)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    with nothing_remains():
        yield


def _run(name: str, folder: Path, *before: str) -> subprocess.CompletedProcess[str]:
    """Run an example from a folder outside the tree."""
    command = [*before, sys.executable, str(FOLDER / f"{name}.py")]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=200)


def _docstring(name: str) -> str:
    return ast.get_docstring(ast.parse((FOLDER / f"{name}.py").read_text())) or ""


@running.needs_mininet
@pytest.mark.parametrize("name", LIVE)
def test_live_example_prints_its_result_and_leaves_nothing_behind(name: str, tmp_path: Path) -> None:
    before = running.remains()
    done = _run(name, tmp_path)
    assert done.returncode == 0, done.stderr
    match = re.search(LIVE[name], done.stdout)
    assert match, done.stdout
    if name == "compare_schemes":
        irn, ingress, sfc = map(int, match.groups())
        assert 0 < sfc < ingress < irn
        assert sfc < 0.6 * irn
    assert running.left_since(before) == {}


@pytest.mark.parametrize("name", VIRTUAL)
def test_virtual_example_prints_its_result(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The scripts run in this process, because loading the libraries takes longer than the runs."""
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert re.search(VIRTUAL[name], printed), printed
    files = re.findall(r"^([\w.]+)(?: and [\w.]+)? has the ", printed, re.MULTILINE)
    assert all((tmp_path / file).stat().st_size > 0 for file in files)


@pytest.mark.parametrize("name", FILES_OF_USE)
def test_commands_of_a_file_of_use_run(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line.strip() for line in _docstring(name).splitlines() if line.strip().startswith("./runner.py ")]
    assert lines
    for line in lines:
        words = [word.replace("examples/", f"{FOLDER}/") for word in shlex.split(line)[1:]]
        stored = ["--out", str(tmp_path)] if words[0] in ("run", "compare") else []
        assert main([*words, *stored]) == 0, capsys.readouterr().err
    assert name.removeprefix("own_") != "workload" or "questions" in capsys.readouterr().out


@pytest.mark.long
def test_tests_of_a_claim_end_with_an_exit_code(tmp_path: Path) -> None:
    text = (FOLDER / "test_claim.py").read_text()
    wrong = text.replace("at_most=0.8", "at_most=0.1").replace("test_all_", "not_a_test_")
    assert wrong.count("def test_") == 1
    (tmp_path / "test_wrong_claim.py").write_text(wrong)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    files = [str(FOLDER / "test_claim.py"), "test_wrong_claim.py"]
    options = ["-q", "-c", "pytest.ini", "-p", "no:cacheprovider", "--import-mode=importlib"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 1, done.stdout
    assert "1 failed, 2 passed" in done.stdout
    assert re.search(r"SFC needs less buffer.*measured='[\d.]+x", done.stdout)


@needs_kernel
def test_notebook_runs_in_a_kernel(tmp_path: Path) -> None:
    done = execute((FOLDER / "notebook.ipynb").read_text(), tmp_path)
    results = [cell["outputs"][-1]["data"] for cell in done["cells"] if cell.get("outputs")]
    assert any("text/html" in result for result in results)
    assert any("image/png" in result for result in results)


def test_cells_of_the_notebook_run_as_a_script() -> None:
    notebook = json.loads((FOLDER / "notebook.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)
    names: dict[str, Any] = {}
    for cell in cells:
        tree = ast.parse("".join(cell["source"]))
        shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "notebook.ipynb", "exec"), names)
        if isinstance(shown, ast.Expr):
            value: Any = eval(compile(ast.Expression(shown.value), "notebook.ipynb", "eval"), names)
            assert value._repr_html_() or value._repr_png_()


@pytest.mark.skipif(importlib.util.find_spec("mininet") is None, reason="Mininet is not installed")
@pytest.mark.parametrize("name", LIVE)
def test_live_example_without_root_is_refused_in_one_line(name: str, tmp_path: Path) -> None:
    """A user namespace without a mapping takes the privileges of root away."""
    done = _run(name, tmp_path, *(["unshare", "--user"] if os.geteuid() == 0 else []))
    if done.returncode == NOT_EXECUTABLE:
        pytest.skip("only the owner of this tree may read it")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"{name}.py: a live network needs root: not root; use sudo\n")
    assert len(done.stderr.splitlines()) == 1


def test_every_example_is_tested_and_in_the_table() -> None:
    assert {path.stem for path in FOLDER.glob("[a-z]*.py")} == set(SCRIPTS)
    table = (FOLDER / "README.md").read_text()
    root = {name: "yes" if name in LIVE else "no" for name in SCRIPTS}
    for name in SCRIPTS:
        assert re.search(rf"^\| .* \| \[`{name}\.py`\]\({name}\.py\).* \| {root[name]} \| \d+ \|$", table, re.MULTILINE)


@pytest.mark.parametrize("name", SCRIPTS)
def test_example_is_short_and_says_its_question_and_its_command(name: str) -> None:
    text = (FOLDER / f"{name}.py").read_text()
    assert len(text.splitlines()) <= MOST_LINES
    assert "sys.path" not in text
    question, *rest = _docstring(name).splitlines()
    assert "?" in question
    assert any(f" examples/{name}.py" in line for line in rest)
