# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that run ./runner.py as a process: exit status, `--json` and determinism."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sfc_testbed.telemetry.schema import SCHEMAS
from sfc_testbed.testbed.system.run_ids import STATE_ROOT
from tests.changes.change import environment_of
from tests.testbed import running
from tests.tree import ROOT

NOBODY = 65534


def test_the_command_alone_prints_its_help(tmp_path: Path) -> None:
    done, with_option = running.run(cwd=tmp_path), running.run("--help", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == with_option.stdout
    assert "Exit codes:\n" in done.stderr


@pytest.fixture
def as_nobody(public_folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs runner.py as the user nobody in a public folder.

    The tree is mounted in that folder, since nobody may not be able to read its real place.
    """
    tree = public_folder / "tree"
    tree.mkdir()
    show = f'mount --bind "{ROOT}" "{tree}" && exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups "$@"'
    python = Path(sys.executable)
    if python.is_relative_to(ROOT):
        python = tree / python.relative_to(ROOT)
    environment = {**environment_of(tree), "HOME": str(public_folder), "MPLCONFIGDIR": str(public_folder)}

    def shown(*words: str) -> subprocess.CompletedProcess[str]:
        command = ["unshare", "--mount", "sh", "-c", show, "sh", *words]
        return running.outcome_of(command, cwd=public_folder, env=environment)

    probe = shown(str(python), "-c", f"open('{tree / 'runner.py'}')")
    if probe.returncode != 0:
        pytest.skip(f"cannot show the tree to nobody: {probe.stderr.strip()}")
    return lambda *words: shown(str(python), str(tree / "runner.py"), *words)


@pytest.fixture
def _state_root() -> Iterator[None]:
    """Create the state folder of live runs, which exists after the first live run and is readable for root only."""
    is_new = not STATE_ROOT.exists()
    STATE_ROOT.mkdir(mode=0o700, exist_ok=True)
    yield
    if is_new:
        with suppress(OSError):  # a run in parallel uses the folder
            STATE_ROOT.rmdir()


@pytest.mark.root
@pytest.mark.usefixtures("_state_root")
@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (("run", "incast", "--out", "runs"), "use sudo, or --clock virtual, which does not need root"),
        (
            ("compare", "incast", "--schemes", "irn,sfc", "--out", "runs"),
            "use sudo, or --clock virtual, which does not need root",
        ),
        (("validate", "incast", "--out", "runs"), "a live network needs root: not root; use sudo"),
        (("cli",), "a live network needs root: not root; use sudo"),
    ],
)
def test_without_root_a_live_network_is_refused_with_an_alternative(
    words: tuple[str, ...], advice: str, public_folder: Path, as_nobody: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    done = as_nobody(*words)
    assert done.returncode == 2, done.stderr
    assert done.stderr.endswith(f"{advice}\n")
    assert len(done.stderr.splitlines()) == 1
    assert not (public_folder / "runs").exists()


@pytest.mark.root
def test_output_below_a_closed_folder_is_refused(
    tmp_path: Path, as_nobody: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    tmp_path.chmod(0o700)
    done = as_nobody("run", "incast", "--clock", "virtual", "--out", str(tmp_path / "runs"))
    assert done.returncode == 2, done.stderr
    assert "--out" in done.stderr


@pytest.mark.parametrize(("words", "runs"), [(["run"], 1), (["compare", "--schemes", "irn,sfc"], 2)])
def test_flows_of_a_file_need_no_scenario(words: list[str], runs: int, tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("src,dst,size_bytes,start_ns,tag\nh1,h9,5000,0,a\n")
    done = running.run(*words, "--flows", "mine.csv", "--clock", "virtual", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folders = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert all(name.startswith("flows-") for name in folders)
    assert len([name for name in folders if "compare" not in name]) == runs


@pytest.mark.long
def test_virtual_runs_are_identical_if_their_seeds_are(tmp_path: Path) -> None:
    """stdout is result.json and the run's folder alone. Results are equal but for speed, and traces byte-identical."""
    words = ["run", "incast", "--clock", "virtual", "--json"]
    results = []
    for folder, seed in (("a", "7"), ("b", "7"), ("c", "8")):
        done = running.run(*words, "--seed", seed, "--out", str(tmp_path / folder))
        assert done.returncode == 0, done.stderr
        results.append(json.loads(done.stdout))
    for result in results:
        assert result.pop("wall_s") > 0
        assert {path.name for path in Path(result.pop("folder")).iterdir()} >= {"result.json", "flows.parquet"}
        assert result.pop("packets_per_s") > 0
    assert results[0] == results[1]
    assert results[0]["fct_slowdown"] != results[2]["fct_slowdown"]
    traces = [sorted((tmp_path / folder).glob("*/*.parquet")) for folder in ("a", "b")]
    assert len(traces[0]) == len(SCHEMAS)
    assert [path.read_bytes() for path in traces[0]] == [path.read_bytes() for path in traces[1]]
