# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for files of users that are compiled with the engine, and for the choice of the build that has them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from os_helpers.cache import private_cache
from os_helpers.kept import seal
from sfc_testbed.native import build
from sfc_testbed.native.build import BuildFailed, missing
from sfc_testbed.native.extended import (
    USES,
    WANTED,
    UserFile,
    UserModule,
    as_json,
    best_build,
    extended_name,
    from_json,
    wanted_build,
)
from sfc_testbed.native.modules import INTERPRETED
from sfc_testbed.native.sources import MANIFEST
from sfc_testbed.place import ROOT
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.extensions import for_compiler, use
from tests.extended import write_extension
from tests.testbed import running
from tests.testbed.incasts import assert_same_run

ONE, TWO, THREE = (UserFile(f"/home/me/{name}.py", name * 3, ()) for name in ("one", "two", "three"))
HPCC = ROOT / "hosts" / "transport" / "congestion" / "hpcc.py"
CRASHES = """\
import sfc_testbed as sfc


@sfc.congestion_control("crashes")
class Crashes(sfc.CongestionControl):
    def on_ack(self, sample: sfc.AckSample, now_ns: int) -> None:
        self._divide(sample, 0)

    def _divide(self, sample: sfc.AckSample, by: int) -> None:
        self.window_bytes = sample.acked_bytes // by
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache for this test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(INTERPRETED, raising=False)
    monkeypatch.delenv(WANTED, raising=False)
    return private_cache()


def make_build(*files: UserFile) -> Path:
    """Make an extended build without modules."""
    folder = private_cache() / extended_name(files)
    folder.mkdir()
    (folder / MANIFEST).write_text("{}")
    (folder / USES).write_text(json.dumps({file.path: file.sha256 for file in files}))
    seal(folder)
    return folder


def test_the_build_with_most_of_the_files_and_fewest_others_is_chosen(cache: Path) -> None:
    wanted = {file.path: file.sha256 for file in (ONE, TWO)}
    assert best_build(wanted) is None
    with_three = make_build(THREE)
    assert best_build(wanted) is None
    with_one = make_build(ONE)
    assert best_build(wanted) == with_one
    with_all = make_build(ONE, TWO, THREE)
    assert best_build(wanted) == with_all
    with_both = make_build(ONE, TWO)
    assert best_build(wanted) == with_both
    assert best_build({THREE.path: THREE.sha256}) == with_three
    assert best_build({ONE.path: "changed"}) is None
    (with_both / MANIFEST).write_text("")
    assert best_build(wanted) == with_all


def test_a_build_that_the_environment_names_must_be_in_the_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make_build(ONE)
    for name, expected in (
        (folder.name, folder),
        (f"../{folder.name}", None),
        (extended_name([TWO]), None),
        ("", None),
    ):
        monkeypatch.setenv(WANTED, name)
        assert wanted_build() == expected


def test_files_for_the_compiler_survive_json() -> None:
    files = [UserFile("/a.py", "1", (UserModule("p.a", "/a.py", "x = 'ä'\n"), UserModule("p.b", "/b.py", ""))), ONE]
    assert from_json(as_json(files)) == files


@pytest.mark.usefixtures("no_extensions")
def test_modules_of_algorithms_and_those_that_they_import_are_compiled(tmp_path: Path) -> None:
    control = (
        "from . import helper\nimport sfc_testbed as sfc\n@sfc.congestion_control('mine')\n"
        "class Mine(sfc.CongestionControl):\n    FACTOR = helper.FACTOR\n"
    )
    (tmp_path / "control.py").write_text(control)
    main = "import sfc_testbed as sfc\nfrom . import control\nsfc.scheme('mine-scheme', congestion='mine')\n"
    [extension] = use(write_extension(tmp_path, main))
    compiled = for_compiler(extension)
    assert [Path(module.path).name for module in compiled.modules] == ["control.py", "helper.py"]
    assert compiled.modules[0].text == control


@pytest.mark.usefixtures("no_extensions")
def test_a_file_without_an_algorithm_is_refused(tmp_path: Path) -> None:
    [extension] = use(write_extension(tmp_path, "import sfc_testbed as sfc\nsfc.scheme('mine-scheme')\n"))
    with pytest.raises(UsageError, match="adds no congestion control, flow control or loss recovery"):
        for_compiler(extension)


def test_an_error_of_the_compiler_names_the_users_file_and_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    texts = build._write_texts([UserModule("package.my_cc", "/home/me/my-cc.py", "x = 1\n")], work)
    [path] = texts
    errors = [f'{path}:{line}: error: Incompatible types "{line}"  [assignment]' for line in (7, 9)]
    output = "\n".join([f"{path}:5: note: a note", *errors])

    def run(command: Sequence[str], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, output, "")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(BuildFailed, match=r'^/home/me/my-cc.py, line 7: Incompatible types "7" \(and 1 more\)$'):
        build._translate(work, texts)


def test_tracebacks_of_compiled_code_name_the_users_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    code = tmp_path / "code.c"
    code.write_text(f'CPy_AddTraceback("{path}", "on_ack", 7, globals);\n')
    build._show_real_paths(tmp_path, {path: UserModule("p.mine", '/home/jörg/a "b"/mine.py', "")})
    assert code.read_text() == (
        'CPy_AddTraceback("/home/j\\303\\266rg/a \\042b\\042/mine.py", "on_ack", 7, globals);\n'
    )


def command(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder without a time limit, because it may compile."""
    environment = {**os.environ, INTERPRETED: "0"}
    line = running.command(*words)
    return subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def run_incast(folder: Path, out: str, scheme: str, *words: str, uses: Sequence[str], **options: Any) -> Path:
    """Run an incast with files of users and return its folder, whose config.json says what was compiled."""
    used = [word for name in uses for word in ("--use", name)]
    options = {"--clock": "virtual", "--scale": "ci", **options}
    more = [word for pair in options.items() for word in pair]
    done = command("run", "incast", "--scheme", scheme, *more, *words, *used, "--out", out, folder=folder)
    assert done.returncode == 0, done.stderr
    [run] = [path for path in (folder / out).iterdir() if path.is_dir()]
    return run


def engines(run: Path) -> dict[str, str]:
    """Return how the files of a run were executed."""
    versions = json.loads((run / "config.json").read_text())["versions"]
    return {name.removeprefix("--use "): how for name, how in versions.items() if name.startswith("--use ")}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile three files of a user's folder by one command."""
    lacking = missing()
    if lacking is not None:
        pytest.skip(lacking)
    folder = tmp_path_factory.mktemp("project")
    write_extension(folder)
    own = HPCC.read_text().replace(
        "@mypyc_attr(allow_interpreted_subclasses=True)\nclass Hpcc(CongestionControl):",
        "@sfc.congestion_control('own-hpcc')\nclass Hpcc(sfc.CongestionControl):",
    )
    own = own.replace("base import AckSample, CongestionControl, PathContext", "base import AckSample, PathContext")
    (folder / "own-hpcc.py").write_text(
        own.replace("from mypy_extensions import mypyc_attr", "import sfc_testbed as sfc")
    )
    (folder / "crashes.py").write_text(CRASHES)
    done = command("compile", "mine.py", "own-hpcc.py", "crashes.py", folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("crashes.py, helper.py, mine.py, own-hpcc.py: compiled with the host engine in ")
    return folder


@pytest.mark.long
def test_a_second_compile_finds_the_build(project: Path) -> None:
    done = command("compile", "crashes.py", "mine.py", "own-hpcc.py", folder=project)
    assert (done.returncode, done.stdout) == (0, "crashes.py, mine.py, own-hpcc.py: compiled already\n")


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
def test_traces_are_equal_built_in_interpreted_and_compiled(project: Path, tmp_path: Path, workers: str) -> None:
    options = {"--workers": workers, "--seed": "7"}
    compiled = run_incast(project, f"compiled-{workers}", "sfc+own-hpcc", uses=["own-hpcc.py"], **options)
    assert engines(compiled) == {"own-hpcc.py": "compiled"}
    (tmp_path / "own-hpcc.py").write_text((project / "own-hpcc.py").read_text())
    interpreted = run_incast(tmp_path, "runs", "sfc+own-hpcc", uses=["own-hpcc.py"], **options)
    assert engines(interpreted) == {"own-hpcc.py": "interpreted"}
    built_in = run_incast(tmp_path, "built-in", "sfc+hpcc", uses=[], **options)
    assert pl.read_parquet(compiled / "flows.parquet").height > 0
    for other in (interpreted, built_in):
        assert [path.read_bytes() for path in sorted(other.glob("*.parquet"))] == [
            path.read_bytes() for path in sorted(compiled.glob("*.parquet"))
        ]
    assert_same_run(interpreted, compiled)


@pytest.mark.long
def test_scenarios_and_topologies_in_the_same_file_work(project: Path) -> None:
    done = command("run", "rounds", "--scheme", "deaf", "--clock", "virtual", "--use", "mine.py", folder=project)
    assert done.returncode == 0, done.stderr
    done = command("list", "--use", "mine.py", folder=project)
    assert "A window of half a BDP" in done.stdout
    done = command("check", "mine.py", folder=project)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "all hold"), done.stdout


@pytest.mark.long
def test_jobs_use_the_build_and_a_changed_file_runs_interpreted(project: Path) -> None:
    schemes = ("--schemes", "irn,irn+half-bdp")
    words = ("compare", "incast", *schemes, "--clock", "virtual", "--scale", "ci", "--use", "mine.py", "--out", "jobs")
    done = command(*words, folder=project)
    assert done.returncode == 0, done.stderr
    configs = list((project / "jobs").glob("**/config.json"))
    assert configs
    assert [engines(config.parent) for config in configs] == [{"mine.py": "compiled"}] * len(configs)
    changed = project / "changed.py"
    changed.write_text(CRASHES.replace("crashes", "other").replace("by: int", "by"))
    both = run_incast(project, "both", "irn+half-bdp", uses=["mine.py", "changed.py"])
    assert engines(both) == {"mine.py": "compiled", "changed.py": "interpreted"}


@pytest.mark.long
def test_a_crash_of_compiled_code_names_the_users_file_and_line(project: Path) -> None:
    words = ("--scheme", "irn+crashes", "--clock", "virtual", "--scale", "ci", "--use", "crashes.py")
    done = command("run", "incast", *words, "--out", "crash", folder=project)
    line = CRASHES.splitlines().index("        self.window_bytes = sample.acked_bytes // by") + 1
    [result] = (project / "crash").glob("*/result.json")
    place = f"{project}/crashes.py:{line}"
    message = f"Crashes._divide raised ZeroDivisionError: integer division or modulo by zero ({place})"
    assert message in result.read_text()
    assert done.returncode == 3


@pytest.mark.long
def test_what_the_compiler_refuses_is_one_line_and_the_file_runs_interpreted(project: Path, tmp_path: Path) -> None:
    text = CRASHES.replace("self._divide(sample, 0)", "self.window_bytes = 1 if sample.ecn_marked else 'ä'")
    (tmp_path / "wrong.py").write_text(text)
    done = command("compile", "wrong.py", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"runner.py: {tmp_path}/wrong.py, line 7: ")
    assert done.stderr.endswith("; runs with --use wrong.py are interpreted\n")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.long
@pytest.mark.root
def test_agents_of_a_live_run_use_the_build(project: Path) -> None:
    run = run_incast(project, "live", "irn+half-bdp", "--set", "degree=4", uses=["mine.py"], **{"--clock": "real"})
    assert engines(run) == {"mine.py": "compiled"}
    assert pl.read_parquet(run / "flows.parquet").height == 4
