# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`make p4` without p4c: one line that says what is missing and how to get it, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from softswitch.p4c import COMPILER
from tools import compile_p4, p4_variants

REFUSAL = "Cannot connect to the Docker daemon. Is the docker daemon running?"


@pytest.mark.parametrize(
    ("programs", "expected"),
    [
        ({}, "docker is not there either"),
        (
            {"docker": f"echo first line >&2; echo '{REFUSAL}' >&2; exit 1"},
            f"Docker cannot get p4lang/p4c:latest ({REFUSAL})",
        ),
    ],
)
@pytest.mark.parametrize("main", [compile_p4.main, p4_variants.main])
def test_a_missing_compiler_is_one_line(
    main: object,
    programs: dict[str, str],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, script in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert callable(main)
    assert main() == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{COMPILER} is not on the PATH, and {expected}")
    assert "docs/bmv2.md says how to get it" in line


def test_a_docker_image_is_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docker").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert compile_p4.missing_compiler() is None
