# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The Vagrantfile, where Vagrant is installed. No machine is made: that takes a provider and a network."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(shutil.which("vagrant") is None, reason="Vagrant is not installed")


def _vagrant(tmp_path: Path, *words: str) -> str:
    """What it says of a copy: it keeps a folder beside the file and one for itself."""
    project = tmp_path / "project"
    project.mkdir()
    shutil.copy(ROOT / "Vagrantfile", project)
    settings = {"VAGRANT_HOME": str(tmp_path / "home"), "VAGRANT_DEFAULT_PROVIDER": "docker"}  # one that comes with it
    done = subprocess.run(
        ["vagrant", *words], cwd=project, env=os.environ | settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_is_valid(tmp_path: Path) -> None:
    """All but what a provider would have to check itself."""
    assert "Vagrantfile validated successfully." in _vagrant(tmp_path, "validate", "--ignore-provider")


def test_it_offers_four_distributions(tmp_path: Path) -> None:
    """Debian 12, which `vagrant up` takes, first."""
    lines = [line.split(",") for line in _vagrant(tmp_path, "status", "--machine-readable").splitlines()]
    names = [line[1] for line in lines if line[2] == "state"]
    assert names == ["debian-12", "debian-13", "ubuntu-22", "ubuntu-24"]
