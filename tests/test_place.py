# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The commands that messages name, in a clone and where the package is installed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sfc_testbed import place


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Simulate an installation in an environment, and return the environment's folder of programs."""
    monkeypatch.setattr(place, "is_clone", lambda: False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))
    return tmp_path


def test_a_clone_names_its_own_command_and_scripts() -> None:
    assert place.is_clone()
    assert (place.program(), place.command_name()) == ("runner.py", "./runner.py")
    assert place.command_as_root() == "sudo ./runner.py"
    assert place.how_to_install("gcc") == "run tools/provision.sh"
    assert place.how_to_install_for_python("mypy") == "run make setup"
    assert place.how_to_install_p4_tools() == "run tools/provision.sh p4"
    assert place.neutral_folder() == place.ROOT


def test_an_installation_names_what_it_has(installed: Path) -> None:
    assert (place.program(), place.command_name()) == ("sfc-testbed", "sfc-testbed")
    assert place.how_to_install("gcc", "libc6-dev") == "install gcc, libc6-dev with apt-get"
    assert place.how_to_install_for_python("mypy") == f"run {installed}/python3 -m pip install 'mypy'"
    assert "provision" not in place.how_to_install_p4_tools()
    assert place.neutral_folder() == Path("/")


def test_sudo_gets_the_path_of_the_environments_command(installed: Path) -> None:
    assert place.command_as_root() == "sudo sfc-testbed"
    (installed / "sfc-testbed").touch()
    assert place.command_as_root() == f"sudo {installed}/sfc-testbed"


def test_a_stored_command_is_shown_as_it_is_typed_here(installed: Path) -> None:
    assert place.typed_here("./runner.py run incast --seed 1") == "sfc-testbed run incast --seed 1"
