# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Every command in README, CONTRIBUTING and docs/ is parsed by its program, and executed if possible.

A new command that runs without root in virtual time within about a second needs no change here. Other commands need a
row in `SMALLER`, or a row in `PARSED` with the reason.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import polars as pl
import pytest

from testbed.program.user_program import read_program
from tests.analysis.timeline.reading import read_timeline
from tests.changes.change import p4c
from tests.docs.commands import (
    NO_SHELL,
    PAGES,
    PROMPT,
    RUNNER,
    SHELL,
    Command,
    bare,
    blocks_of,
    commands_of,
    filled,
    fragments_of,
    spans_of,
)
from tests.docs.named import complaint_about_options, complaint_about_setting
from tests.docs.understood import complaint_about, typed
from tests.testbed import running
from tests.testbed.program.own import TRIGGER, early
from tests.testbed.prompt.test_prompt_live import LINES
from tests.tree import ROOT

OWN_TESTS = "softswitch/tests/softswitch_tests"
PARSED: Mapping[str, str] = {
    r"^docs/tutorial/README.md: [^`]": "need the files that the page creates: tests/docs/test_tutorial.py",
    r"^docs/fidelity.md: ": "hours of live runs: tests/testbed/validation/test_run.py has small ones",
    r"^docs/data-plane.md: [^`]": "have their own tests below",
    r"^docs/security.md: [^`]": "a cluster with TLS: tests/testbed/jobs/test_cluster.py has one",
    r"^docs/reproduction/": "minutes in total: tests/reproduction/test_reproduce.py has small ones",
    r": `(sudo )?(./)?runner.py \w+`$": "names only a verb: tests/cli/test_startup.py",
    r"runner.py reproduce": "minutes: tests/reproduction/test_reproduce.py",
    r"runner.py sweep": "a dozen runs: tests/testbed/sweep/test_sweep.py",
    r"runner.py validate": "live and virtual runs for minutes: tests/testbed/validation/test_run.py",
    r"sudo ./runner.py doctor --calibrate": "a minute: tests/testbed/speed/test_calibration_live.py",
    r"sudo ./runner.py clean": "ends processes of killed runs: tests/testbed/live/test_clean_live.py",
    r"python mine.py": "a live network: tests/examples/test_examples.py runs it",
    r": tac ": "a pipe: tests/switch_bmv2/program/test_artifacts.py runs it",
    r"sudo mnexec -a": "a live network: tests/testbed/prompt/test_prompt_live.py",
    r"runner.py cli": "a live prompt: tests/testbed/prompt/test_prompt_live.py",
    r"--hosts docker:": "needs root and Docker: tests/testbed/live/test_containers_live.py",
    r"run incast .*--switch bmv2": "needs root and BMv2: tests/testbed/targets/bmv2/test_bmv2_live.py",
    r"sudo ./runner.py (run|compare) ": "needs root: the last test here runs one, tests/testbed/live/ others",
    r"runner.py report (runs/)?[\w-]+`?$": "tests/docs/conftest.py runs it, for all tests here",
    r"--workers 2": "two processes take twice as long to start: tests/testbed/virtual/test_workers.py",
    r": `./runner.py run hadoop-50 ": "half a minute: tests/reproduction/test_experiments.py plans it as well",
    r"mpirun ": "needs MPI: tests/testbed/virtual/test_ranks.py",
    r": `?make |SFC_TESTBED_IMAGE_TEST_BASE": "runs this test itself, or takes longer: tests/test_fresh.py",
    r": `vagrant ": "needs Vagrant: tests/tools/test_distributions.py",
    r": `?(docker|dockerd|debootstrap) ": "needs Docker: tests/tools/test_image.py",
    r"tools/provision.sh": "installs packages: tests/tools/test_provision.py",
    r"(softswitch|switch/bin)/simple_switch -i": f"needs root and interfaces: {OWN_TESTS}/test_bmv2_command.py",
    r"(softswitch|switch/bin)/simple_switch_grpc ": f"needs root and interfaces: {OWN_TESTS}/p4runtime/test_command.py",
    r": `(.venv/bin/)?python -m [\w.]+`$": "names only a module",
    r"python -m softswitch(.thrift)? ": f"runs until it is stopped: {OWN_TESTS}/thrift/test_server.py",
    r"sudo .venv/bin/python examples/": "needs root: tests/examples/test_examples.py runs each",
    r"python net.py": "needs root: tests/softswitch/mininet/test_mininet.py creates the page's files and runs it",
    r"softswitch/README.md: ": f"an environment: tools/fresh-softswitch.sh, {OWN_TESTS}/test_wheel.py",
    r": `p4c-bm2-ss ": f"the compiler itself: {OWN_TESTS}/test_p4c.py",
    r"python -m tools.packet_tests ": "needs p4c and its sources: tests/tools/test_packet_tests.py",
    r"python -m bench|: export ": "measures for minutes: tests/bench/test_benchmarks.py",
    r"python -m (telemetry|analysis.report|reproduction)\.": "writes docs/: tests/telemetry/test_trace_document.py",
    r": (wireshark|tshark) ": "tests/tools/test_wireshark_script.py reads captures with it where it is installed",
    r": `dask ": "a cluster: tests/testbed/sweep/test_sweep.py has one",
    r"cp runs/demo/": "copies the plot of a live run",
}
"""Commands that are only parsed, with the reason. Patterns match `PAGE: COMMAND`, or ``PAGE: `COMMAND` `` for inline
code."""

SMALLER: Mapping[str, str] = {
    "--scale laptop": "--scale ci",
    "run incast-degree": "run incast-degree --set arrivals_us=150",
    "--scale paper --set degree=256": "--scale ci --set degree=8",
    "--seeds 1..5": "--seeds 1..2",
    "message_bytes=500000": "message_bytes=100000",
    "message_bytes=3000000": "message_bytes=300000",
    "message_bytes=4000000": "message_bytes=300000",
    "message_bytes=8000000": "message_bytes=300000",
    "message_bytes=15000000": "message_bytes=300000",
}
"""Replacements in commands, so that a run takes about a second."""

PLACEHOLDERS: Mapping[str, str] = {
    "FILE.csv": "{run}/flows-input.csv",
    "FILE.yaml": "sweep.yaml",
    "FLOW": "1",
    "FOLDER": "{run}",
    "MINUTES=n": "MINUTES=1",
    "N": "2",
    "NAME": "theory",
    "NAME...": "nic",
    "NAME|all": "theory",
    "NUMBER": "0",
    "RUN": "{run}",
    "PROGRAM.json": "switch-bmv2/artifacts/sfc.json",
    "SCENARIO": "incast",
    "SCENARIO|all": "incast",
    "TEST.stf": "tests/vectors/sfc/forwarding.stf",
    "ci|laptop|paper": "ci",
    "mine.p4": "mine.json",
    "runs/FOLDER": "{run}",
    "runs/incast-sfc-20260301-120000": "{run}",
}
"""Placeholders in commands, and their values in the tests."""
WITHOUT_COMPILER: Mapping[str, str] = {"mine/early.p4": "mine.json"}

OF_OTHERS: Mapping[str, str] = {
    "--emit-externs": "p4c-bm2-ss",
    "--generate": "tools.packet_tests",
    "--jobs": "tools.packet_tests",
    "--mca": "mpirun",
}
"""Options of other programs in inline code."""

COMMANDS = [command for page in PAGES for command in commands_of(page)]


def _key(command: Command) -> str:
    return f"{command.page}: `{command.text}`" if command.is_inline else f"{command.page}: {command.text}"


def _reason(command: Command) -> str | None:
    return next((reason for pattern, reason in PARSED.items() if re.search(pattern, _key(command))), None)


TYPED = list({command.words: command for command in reversed(COMMANDS) if _reason(command) is None}.values())[::-1]
"""Executed commands. A command on several pages is executed for the first page."""


def _place(command: Command) -> tuple[str, int]:
    """Return the page and block of a command (0: inline code). Commands of a place run in the same folder."""
    if command.is_inline:
        return command.page, 0
    return command.page, max(block.line for block in blocks_of(command.page) if block.line <= command.line)


UNITS = {place: list(commands) for place, commands in groupby(sorted(TYPED, key=_place), key=_place)}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Enter a folder with links to the tree and with the files that pages mention; commands do not change the tree."""
    for path in ROOT.iterdir():
        if path.name not in ("mine", "runs") and not path.name.startswith("."):
            (tmp_path / path.name).symlink_to(path)
    [sweep] = [block.text for block in blocks_of("docs/workloads.md") if block.kind == "yaml"]
    (tmp_path / "sweep.yaml").write_text(sweep)
    (tmp_path / "mine.json").write_text(early())
    (tmp_path / "lines.txt").write_text("pingall\n")
    monkeypatch.chdir(tmp_path)
    yield tmp_path


@pytest.fixture
def _without_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no pages: they take longer than the runs, and have their own tests."""
    monkeypatch.setattr("testbed.execution.execute.write_run_report", lambda folder: folder / "report.html")
    monkeypatch.setattr("analysis.report.pages.write_comparison_report", lambda _, out, *__: out / "report.html")


def _values(run: Path, tree: Path) -> dict[str, str]:
    """Return the values of placeholders, and make the run the newest in the folder `runs`."""
    (tree / "runs").mkdir()
    (tree / "runs" / run.name).symlink_to(run)
    return {name: value.format(run=run) for name, value in PLACEHOLDERS.items()}


def test_every_block_says_what_it_is() -> None:
    """Commands in a block of an unknown kind would not be tested."""
    kinds = (SHELL, *NO_SHELL)
    unknown = [f"{page}:{block.line - 1}" for page in PAGES for block in blocks_of(page) if block.kind not in kinds]
    assert not unknown


def test_commands_that_cannot_be_executed_have_a_reason() -> None:
    """A command that needs root, or a program that this test does not start, needs a row in PARSED."""
    programs = (*RUNNER, ".venv/bin/python")
    missing = [
        command
        for command in TYPED
        if command.is_for_root or len(command.parts) > 1 or command.words[0] not in programs
    ]
    assert not [f"{command.place}: `{command.text}` needs a row in PARSED" for command in missing]
    files = [name for reason in PARSED.values() for name in re.findall(r"(?:softswitch/)?tests/[\w/]+\.py", reason)]
    assert not [name for name in files if not (ROOT / name).exists()]


@pytest.mark.timeout(900)  # planning runs with millions of messages takes two minutes on an idle machine
@pytest.mark.parametrize("page", [page for page in PAGES if any(command.page == page for command in COMMANDS)])
def test_every_command_is_understood(page: str, tree: Path, stored_run: Path) -> None:
    """The real programs accept the options, scenarios, schemes, settings, files and make targets."""
    values = {**_values(stored_run, tree), **WITHOUT_COMPILER}
    complaints, seen = [], set()
    for command in COMMANDS:
        if command.page == page and command.words not in seen and "test_tutorial" not in (_reason(command) or ""):
            seen.add(command.words)
            texts = [complaint_about(filled(part, values)) for part in command.parts]
            complaints += [f"{command.place}: `{command.text}`: {text}" for text in texts if text is not None]
    assert seen or page == "docs/tutorial/README.md"
    assert not complaints, "\n".join(complaints)


@pytest.mark.usefixtures("_without_pages")
@pytest.mark.parametrize("place", UNITS, ids=lambda place: f"{place[0]}:{place[1] or 'prose'}")
def test_commands_without_root_succeed(place: tuple[str, int], tree: Path, stored_run: Path) -> None:
    """The commands of a place run in order. Each ends with 0, and each run is faithful."""
    values = _values(stored_run, tree)
    for command in UNITS[place]:
        status, output = _type(_smaller(filled(command.words, values)))
        assert status == 0, f"{command.place}: `{command.text}` ends with {status}: {output}"
    for path in tree.glob("runs/*/result.json"):
        assert json.loads(path.read_text())["verdict"] == "faithful", path


def _smaller(words: list[str]) -> list[str]:
    text = "\0".join(words)
    for large, small in SMALLER.items():
        text = text.replace(large.replace(" ", "\0"), small.replace(" ", "\0"))
    return text.split("\0")


def _type(words: list[str]) -> tuple[int, str]:
    """Run a command without a shell, and return its exit code and messages."""
    program, *rest = words
    if program in RUNNER:
        return typed(rest)
    target = rest[rest.index(">") + 1] if ">" in rest else os.devnull
    arguments = rest[: rest.index(">")] if ">" in rest else rest
    name = sys.executable if program.endswith("python") else program
    with Path(target).open("wb") as out:
        done = subprocess.run([name, *arguments], stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.usefixtures("_without_pages")
def test_own_p4_program_has_the_figures_of_the_page(tree: Path) -> None:
    """The virtual clock reproduces the table in docs/data-plane.md exactly. The program is the compiled example."""
    page = "docs/data-plane.md"
    (tree / "early.json").write_text(early())
    comparisons = [command for command in COMMANDS if command.page == page and command.words[1:2] == ("compare",)]
    [comparison] = [command for command in comparisons if "mine/early.p4" in command.words]
    status, output = typed(["early.json" if word == "mine/early.p4" else word for word in comparison.words[1:]])
    assert status == 0, output
    table = (ROOT / page).read_text(encoding="utf-8").partition("| scheme | flows | peak buffer | P50 | BTS |")[2]
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:4]]
    assert len(rows) == 2
    for name, *cells in rows:
        [line] = [line for line in output.splitlines() if re.match(rf" ?{re.escape(name)} +faithful", line)]
        assert all(cell in line for cell in cells), (cells, line)


def test_example_program_compiles_with_its_changed_trigger(tree: Path) -> None:
    """The commands of docs/data-plane.md before `compare` create the program."""
    reason = p4c()
    if reason is not None:
        pytest.skip(reason)
    page, programs = "docs/data-plane.md", ("cp", "mkdir", "sed")
    edits = [command for command in COMMANDS if command.page == page and command.words[0] in programs]
    for command in edits:
        status, output = _type(list(command.words))
        assert status == 0, output
    program = read_program("mine/early.p4")
    assert program is not None
    assert TRIGGER not in program.text
    assert "meta.queue_bytes > (meta.q_th_bytes >> 1)" in program.text


def test_options_and_settings_in_inline_code_exist() -> None:
    """Examples: `--retry`, `compare --seeds 1..5`, `transport.retry_limit`."""
    complaints = []
    for page in PAGES:
        for fragment in fragments_of(page):
            complaint = complaint_about_options(fragment.words, OF_OTHERS)
            settings = [word for sign, word in zip(fragment.words, fragment.words[1:], strict=False) if sign == "--set"]
            texts = [complaint, *map(complaint_about_setting, settings)]
            complaints += [f"{fragment.place}: `{fragment.text}`: {text}" for text in texts if text is not None]
        for span in spans_of(page):
            if re.fullmatch(r"(switch|topology|transport)\.\w+", span.text) and complaint_about_setting(span.text):
                complaints.append(f"{span.place}: {complaint_about_setting(span.text)}")
    assert not complaints, "\n".join(complaints)


def test_live_tests_type_every_verb_of_the_prompt() -> None:
    """The verbs come from the tables and the recorded session of docs/prompt.md."""
    page = "docs/prompt.md"
    tried = {line.lstrip("-").split()[0] for line, _ in LINES}
    session = [line for block in blocks_of(page) for line in block.text.splitlines() if line.startswith(PROMPT)]
    named = {line.removeprefix(PROMPT).lstrip("-").split()[0] for line in session}
    rows = re.findall(r"^\| (`.*?) \| ", (ROOT / page).read_text(encoding="utf-8").replace(r"\|", "/"), re.MULTILINE)
    named |= {words.split()[0] for row in rows for words in re.findall("`([^`]+)`", row)}
    assert len(named) > 20
    assert named <= tried


@running.needs_mininet
def test_live_run_of_the_readme_has_the_described_files(tree: Path) -> None:
    """README's run with captures. `trace` shows a flow of the newest run. Traces agree with docs/traces.md."""
    readme = [command for command in COMMANDS if command.page == "README.md"]
    [command] = [command for command in readme if command.is_for_root and "--pcap" in command.words]
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
