# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Installed packages: the names of files say the same as `importlib.metadata`."""

from __future__ import annotations

import zipfile
from importlib import metadata
from pathlib import Path

import pytest

from sfc_testbed.request.installed import GROUP, installed_modules, version_of

ENTRY = f"[{GROUP}]\nlab = lab.extension\n"


@pytest.mark.parametrize("package", ["numpy", "polars", "sfc-testbed", "typing-extensions"])
def test_the_version_of_a_package_is_that_of_its_metadata(package: str) -> None:
    assert version_of(package) == metadata.version(package)


def test_a_package_that_is_not_installed_has_no_version() -> None:
    assert version_of("nosuch-package") is None


@pytest.mark.parametrize("kind", ["dist-info", "egg-info", "archive"])
def test_an_extension_of_an_installed_package_is_found(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = f"lab-1.{'dist-info' if kind == 'archive' else kind}"
    files = {"METADATA": "Name: lab\nVersion: 1\n", "PKG-INFO": "Name: lab\nVersion: 1\n", "entry_points.txt": ENTRY}
    place = tmp_path / "lab.zip" if kind == "archive" else tmp_path
    if kind == "archive":
        with zipfile.ZipFile(place, "w") as archive:
            for name, text in files.items():
                archive.writestr(f"{folder}/{name}", text)
    else:
        (tmp_path / folder).mkdir()
        for name, text in files.items():
            (tmp_path / folder / name).write_text(text)
    assert installed_modules() == []
    monkeypatch.syspath_prepend(str(place))
    assert installed_modules() == ["lab.extension"]
