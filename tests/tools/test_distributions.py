# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Supported distributions and Python versions: the Vagrantfile, the workflow and pyproject.toml agree."""

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

from tests.tree import ROOT

VAGRANTFILE = ROOT / "Vagrantfile"
WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"
DISTRIBUTIONS = {"debian-12", "debian-13", "ubuntu-22.04", "ubuntu-24.04", "ubuntu-26.04"}

# Simulates a Python without distutils on any version: the standard library's own distutils cannot be imported.
WITHOUT_DISTUTILS = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == "distutils":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

hooks = [finder for finder in sys.meta_path if type(finder).__module__ == "_distutils_hack"]
others = [finder for finder in sys.meta_path if finder not in hooks]
sys.meta_path[:] = [Missing()] + others
try:
    import distutils
    raise SystemExit("this Python still has distutils")
except ModuleNotFoundError:
    pass
sys.meta_path[:] = hooks + [Missing()] + others
from mininet.net import Mininet
from mininet.node import OVSSwitch
OVSSwitch.OVSVersion = "3.1.0"
print(OVSSwitch.isOldOVS())
"""


def _workflow() -> Any:
    """Return the workflow as GitHub reads it: with the base loader, the key `on` is text and not a boolean."""
    return yaml.load(WORKFLOW.read_text(), yaml.BaseLoader)


def test_vagrant_and_the_workflow_have_the_same_distributions() -> None:
    boxes = set(re.findall(r'^  "[\w-]+" => "([\w.-]+)",$', VAGRANTFILE.read_text(), re.MULTILINE))
    images = _workflow()["jobs"]["distribution"]["strategy"]["matrix"]["distribution"]
    assert boxes == DISTRIBUTIONS == {image.replace(":", "-") for image in images}


def test_copying_into_the_vm_deletes_nothing() -> None:
    """Vagrant's default arguments for rsync delete files that exist only in the VM. Newer files in the VM stay too."""
    [arguments] = re.findall(r"rsync__args: (\[.*\])", VAGRANTFILE.read_text())
    words = yaml.safe_load(arguments)
    assert not [word for word in words if word.startswith("--del")]
    assert {"--update", "--backup"} <= set(words)


def test_targets_scripts_and_tests_of_the_workflow_exist() -> None:
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
    """The classifiers, `requires-python`, and the settings of ruff and mypy have the same lowest version."""
    text = (ROOT / "pyproject.toml").read_text()
    lowest = min(int(minor) for minor in re.findall(r'"Programming Language :: Python :: 3\.(\d+)"', text))
    for setting in ('requires-python = ">=3.{}"', 'target-version = "py3{}"', 'python_version = "3.{}"'):
        assert f"\n{setting.format(lowest)}\n" in text
    assert (3, lowest) <= sys.version_info[:2]


def test_docker_ignores_the_files_that_git_ignores() -> None:
    """The set-up in an image would be skipped if the image contained a .venv of this machine."""
    ignored = {line.strip("/") for line in (ROOT / ".gitignore").read_text().split()}
    left_out = {
        line.removeprefix("**/") for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] != "#"
    }
    assert left_out == ignored | {".git"}


def test_set_up_of_the_image_finds_the_installed_package(tmp_path: Path) -> None:
    """The set-up copies only part of the tree. A package that pip does not find there cannot be imported later."""
    before, run, _ = (ROOT / "Dockerfile").read_text().partition("RUN mkdir src && ln -s ../sfc_testbed src && make")
    assert run
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "sfc_testbed").symlink_to("../sfc_testbed")
    for *names, to in (line.split()[1:] for line in before.splitlines() if line.startswith("COPY")):
        for name in names:
            (tmp_path / to).mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / to)
    text = (tmp_path / "softswitch" / "pyproject.toml").read_text()
    [folder] = json.loads(re.findall(r"^where = (\[.*\])$", text, re.MULTILINE)[0])
    assert find_packages(str(tmp_path / "softswitch" / folder)) == ["softswitch"]
    assert find_packages(str(tmp_path / "src")) == ["sfc_testbed"]
    named = re.findall(r'^readme = "(.*)"$', text, re.MULTILINE)
    assert named and all((tmp_path / "softswitch" / name).exists() for name in named)


@pytest.mark.parametrize("program", ["ruby", "vagrant"])
def test_ruby_and_vagrant_accept_the_vagrantfile(program: str, tmp_path: Path) -> None:
    path = shutil.which(program)
    if path is None:
        pytest.skip(f"{program} is not installed")
    words = [path, "-c", str(VAGRANTFILE)] if program == "ruby" else [path, "validate", "--ignore-provider"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "VAGRANT_HOME": str(tmp_path / "home")}
    environment |= {"VAGRANT_CWD": str(ROOT), "VAGRANT_DOTFILE_PATH": str(tmp_path / "dot"), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mininet_works_with_a_python_without_distutils() -> None:
    """Python 3.12 and later have no distutils. The testbed installs setuptools, whose distutils Mininet can use."""
    if shutil.which("mnexec") is None:
        pytest.skip("Mininet is not installed")
    words = [sys.executable, "-c", WITHOUT_DISTUTILS]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr


def test_actions_are_pinned_by_commit() -> None:
    """A tag can be moved to other code, a commit cannot. A comment names the release."""
    lines = [line for line in WORKFLOW.read_text().splitlines() if "uses: " in line]
    assert lines
    for line in lines:
        assert re.search(r"uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", line), line
