# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The README's commands run, commands of all pages name what exists, and the own P4 program has the page's figures."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.testbed.program.user_program import read_program
from tests.analysis.timeline.reading import read_timeline
from tests.changes.change import p4c
from tests.docs.commands import PAGES, PYTHON, RUNNER, bare, blocks_of, commands_of, fragments_of, spans_of, typed
from tests.docs.named import complaint_about_command, complaint_about_setting, complaint_about_verb
from tests.testbed import running
from tests.testbed.program.own import TRIGGER, early
from tests.tree import ROOT

DATA_PLANE = "docs/data-plane.md"
WITH_FILES = ("docs/tutorial/README.md", "docs/extensions.md")
"""Pages whose commands need the files that they create: tests/docs/test_tutorial.py, tests/docs/test_extensions.py."""
LONG = ("reproduce", "sweep")
"""Verbs whose commands take minutes, with tests of their own in tests/reproduction and tests/testbed/sweep."""
SMALLER: Mapping[str, str] = {"--scale laptop": "--scale ci", "--seeds 1..5": "--seeds 1..2"}
"""Replacements in commands, so that a run takes about a second."""
README = [command for command in commands_of("README.md") if command.words[0] in (*RUNNER, *PYTHON)]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Enter a folder with links to the tree and a P4 program; commands do not change the tree. Draw no pages."""
    for path in ROOT.iterdir():
        if path.name not in ("mine", "runs") and not path.name.startswith("."):
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "mine.json").write_text(early())
    hosts = [f"h{number}" for number in range(1, 10)]
    links = [[host, f"s1-p{port}"] for port, host in enumerate(hosts, start=1)]
    (tmp_path / "topology.json").write_text(json.dumps({"hosts": hosts, "switches": ["s1"], "links": links}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "sfc_testbed.testbed.execution.execute.write_run_report", lambda folder, _, **__: folder / "report.html"
    )
    monkeypatch.setattr(
        "sfc_testbed.analysis.report.html_pages.write_comparison_report", lambda _, out, *__, **___: out / "report.html"
    )
    yield tmp_path


def test_commands_of_the_readme_succeed(tree: Path, stored_run: Path) -> None:
    """Commands without root run in the order of the page. Each ends with 0, and each run is faithful."""
    values = {
        "FOLDER": str(stored_run),
        "FILE.csv": str(stored_run / "flows-input.csv"),
        "PROGRAM.json": "switch-bmv2/artifacts/sfc.json",
        "TEST.stf": "tests/vectors/sfc/forwarding.stf",
        "mine.p4": "mine.json",
        "runs/FOLDER": str(stored_run),
        "runs/OTHER": str(stored_run),
    }
    ran = 0
    for command in README:
        program, *rest = (values.get(word, word) for word in command.words)
        if rest[0] in LONG or (program in RUNNER and "real" in _clock(rest)):
            continue
        text = "\0".join(rest)
        for large, small in SMALLER.items():
            text = text.replace(large.replace(" ", "\0"), small.replace(" ", "\0"))
        words = text.split("\0")
        if program in RUNNER:
            status, output = typed(words)
        else:
            done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
            status, output = done.returncode, done.stderr
        assert status == 0, f"{command.place} ends with {status}: {output}"
        ran += 1
    assert ran > 15
    for path in tree.glob("runs/*/result.json"):
        assert json.loads(path.read_text())["verdict"] == "faithful", path


def _clock(words: list[str]) -> str:
    """Return the clock of the words of a verb; runs and comparisons without the option are live."""
    is_live = words[0] in ("run", "compare") and "virtual" not in words
    return "real" if is_live else "virtual"


def test_commands_of_all_pages_name_what_exists() -> None:
    """Verbs, options, scenarios, schemes, settings, make targets, modules and files in the tree exist."""
    complaints = []
    for page in PAGES:
        for command in [] if page in WITH_FILES else commands_of(page):
            complaints += [(command.place, complaint_about_command(part)) for part in command.parts]
        complaints += [(fragment.place, complaint_about_verb(fragment.words)) for fragment in fragments_of(page)]
        for span in spans_of(page):
            if len(span.words) == 1 and re.fullmatch(r"(switch|topology|transport)\.\w+", span.words[0]):
                complaints.append((span.place, complaint_about_setting(span.words[0])))
    assert not [f"{place}: {complaint}" for place, complaint in complaints if complaint]


def test_own_p4_program_has_the_figures_of_the_page(tree: Path) -> None:
    """The virtual clock reproduces the table in docs/data-plane.md exactly. The program is the compiled example."""
    (tree / "early.json").write_text(early())
    [comparison] = [command for command in commands_of(DATA_PLANE) if {"compare", "mine/early.p4"} < set(command.words)]
    status, output = typed(["early.json" if word == "mine/early.p4" else word for word in comparison.words[1:]])
    assert status == 0, output
    table = (ROOT / DATA_PLANE).read_text(encoding="utf-8").partition("| scheme | flows | peak buffer | P50 | BTS |")[2]
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:4]]
    assert len(rows) == 2
    for name, *cells in rows:
        [line] = [line for line in output.splitlines() if re.match(rf" ?{re.escape(name)} +faithful", line)]
        assert all(cell in line for cell in cells), (cells, line)


def test_example_program_compiles_with_its_changed_trigger(tree: Path) -> None:
    """The commands of docs/data-plane.md before `compare` create the program."""
    if reason := p4c():
        pytest.skip(reason)
    block = next(block for block in blocks_of(DATA_PLANE) if "mkdir" in block.text)
    subprocess.run(["bash", "-ec", block.text.partition("./runner.py")[0]], cwd=tree, check=True)
    program = read_program("mine/early.p4")
    assert program is not None
    assert TRIGGER not in program.text
    assert "meta.queue_bytes > (meta.q_th_bytes >> 1)" in program.text


@running.needs_mininet
def test_live_run_of_the_readme_has_the_described_files(tree: Path) -> None:
    """README's run with captures. `trace` shows a flow of the newest run. Traces agree with docs/traces.md."""
    [command] = [command for command in commands_of("README.md") if command.is_for_root and "--pcap" in command.words]
    done = subprocess.run(
        [sys.executable, *bare(command.words)], cwd=tree, capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode in (0, 3), done.stderr
    [folder] = (tree / "runs").iterdir()
    result = json.loads((folder / "result.json").read_text())
    assert (result["clock"], result["unexplained_loss"]) == ("real", 0)
    names = sorted(path.name for path in (folder / "pcaps").iterdir())
    assert names[0] == "h1-eth0.pcapng"
    assert re.fullmatch(r"tor1-eth\d+\.pcapng", names[1])
    late = pl.read_parquet(folder / "lateness.parquet")
    assert set(late["part"]) == {"host", "switch"}
    assert all((folder / "logs" / f"{name}.json").exists() for name in late.filter(part="host")["node"].unique())
    interval_us = max(10.0, 10_000 / result["dilation"])
    for _, own in late.group_by("node"):
        apart = own["time_us"].sort().diff().drop_nulls() / interval_us
        assert ((apart - apart.round()).abs() < 1e-6).all()
    status, output = typed(["trace", "1"])
    assert status == 0
    assert "acknowledged" in output
    status, output = typed(["export", str(folder), "--format", "perfetto"])
    assert status == 0, output
    timeline = read_timeline(folder / "timeline.pftrace")
    assert (
        len([item for item in timeline.slices if item.place[-1] == "flows" and item.depth == 0])
        == (result["flows"]["total"])
    )
    assert {place[-1] for place in timeline.places} >= {"tor1", "h1", "BTS", "lateness"}
