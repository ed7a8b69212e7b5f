# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The distributions and Pythons that the testbed is for: the files of other programs that name them agree."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from setuptools import find_packages

ROOT = Path(__file__).resolve().parents[2]
VAGRANTFILE = ROOT / "Vagrantfile"
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
DISTRIBUTIONS = {"debian-12", "debian-13", "ubuntu-22.04", "ubuntu-24.04", "ubuntu-26.04"}

# What a Python without distutils does, whichever it is: the import of the standard library's own is not reached.
WITHOUT_DISTUTILS = """
import sys

class Gone:
    def find_spec(self, name, path=None, target=None):
        if name == "distutils":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

hooks = [each for each in sys.meta_path if type(each).__module__ == "_distutils_hack"]
others = [each for each in sys.meta_path if each not in hooks]
sys.meta_path[:] = ([] if "bare" in sys.argv else hooks) + [Gone()] + others
from mininet.net import Mininet
from mininet.node import OVSSwitch
OVSSwitch.OVSVersion = "3.1.0"
print(OVSSwitch.isOldOVS())
"""


def _workflow() -> Any:
    """As GitHub reads it: `on` is a word there, not a truth."""
    return yaml.load(WORKFLOW.read_text(), yaml.BaseLoader)


def test_vagrant_and_the_workflow_have_the_same_distributions() -> None:
    boxes = set(re.findall(r'^  "[\w-]+" => "([\w.-]+)",$', VAGRANTFILE.read_text(), re.MULTILINE))
    images = _workflow()["jobs"]["distribution"]["strategy"]["matrix"]["distribution"]
    assert boxes == DISTRIBUTIONS == {image.replace(":", "-") for image in images}


def test_copying_into_the_vm_deletes_nothing() -> None:
    """Vagrant's own arguments for rsync delete files that are in the VM alone; files that are newer there stay too."""
    [arguments] = re.findall(r"rsync__args: (\[.*\])", VAGRANTFILE.read_text())
    words = yaml.safe_load(arguments)
    assert not [word for word in words if word.startswith("--del")]
    assert {"--update", "--backup"} <= set(words)


def test_the_workflow_runs_what_is_here() -> None:
    """Its targets are the Makefile's, its scripts and tests exist."""
    steps = [step for job in _workflow()["jobs"].values() for step in job["steps"]]
    commands = " ".join(step.get("run", "") for step in steps)
    targets = set(re.findall(r"\bmake ([a-z]+)", commands))
    assert {"setup", "check", "test", "demo"} <= targets
    assert targets <= set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = re.findall(r"\b(?:tests|tools)/[\w/.-]+", commands)
    assert named and all((ROOT / name).exists() for name in named)
    results = set(re.findall(r"--junitxml=(\w+)/", commands))
    assert results == {"junit"}
    [upload] = [step for step in steps if step.get("uses", "").startswith("actions/upload-artifact@")]
    assert (upload["if"], upload["with"]["path"]) == ("always()", "junit/")


def test_python_versions_agree() -> None:
    """What it says it is for, what may install it, and what ruff and mypy hold it to."""
    text = (ROOT / "pyproject.toml").read_text()
    lowest = min(int(minor) for minor in re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', text))
    for setting in ('requires-python = ">=3.{}"', 'target-version = "py3{}"', 'python_version = "3.{}"'):
        assert f"\n{setting.format(lowest)}\n" in text
    assert (3, lowest) <= sys.version_info[:2]


def test_images_take_along_nothing_that_running_makes() -> None:
    """What git ignores, Docker does too: with a .venv of this machine the set-up in an image would be skipped."""
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().split()}
    left_out = {
        line.removeprefix("**/") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] != "#"
    }
    assert left_out == ignored | {".git"}


def test_the_image_installs_what_others_import(tmp_path: Path) -> None:
    """In its set-up, when most of the tree is not there: a package that pip does not find then, nobody can import."""
    before, _, _ = (ROOT / "Dockerfile").read_text().partition("RUN make .venv/ready")
    for *names, to in (line.split()[1:] for line in before.splitlines() if line.startswith("COPY")):
        for name in names:
            (tmp_path / to).mkdir(exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / to)
    [included] = re.findall(r"^include = (\[.*\])$", (tmp_path / "pyproject.toml").read_text(), re.MULTILINE)
    assert set(find_packages(str(tmp_path), include=json.loads(included))) == {"compiled", "softswitch"}


@pytest.mark.parametrize("program", ["ruby", "vagrant"])
def test_the_vagrantfile_is_one(program: str, tmp_path: Path) -> None:
    """Ruby parses it, and Vagrant finds its settings good."""
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    words = [path, "-c", str(VAGRANTFILE)] if program == "ruby" else [path, "validate", "--ignore-provider"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "VAGRANT_HOME": str(tmp_path / "home")}
    environment |= {"VAGRANT_CWD": str(ROOT), "VAGRANT_DOTFILE_PATH": str(tmp_path / "dot"), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mininet_works_where_python_has_no_distutils() -> None:
    """As from Python 3.12 on: setuptools, which the testbed installs, brings one, and Mininet is content with it."""
    if shutil.which("mnexec") is None:
        pytest.skip("Mininet is not installed")
    done = _run(WITHOUT_DISTUTILS)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


def test_mininet_of_the_distribution_may_need_it() -> None:
    """Without setuptools' own distutils that import fails, if this Mininet has it: the test above can fail."""
    import mininet.node

    if "distutils" not in Path(mininet.node.__file__).read_text():
        pytest.skip("this Mininet does not import distutils")
    assert "No module named 'distutils'" in _run(WITHOUT_DISTUTILS, "bare").stderr


def _run(script: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, check=False, timeout=60
    )


def test_actions_are_named_by_what_they_are() -> None:
    """A tag may be moved to other code, a commit cannot; the release that it is stands beside it."""
    lines = [line for line in WORKFLOW.read_text().splitlines() if "uses: " in line]
    assert lines
    for line in lines:
        assert re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line
