# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""tools/fresh.sh where it can be tested without building a root: its syntax, and what it refuses."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parent.parent / "tools"


@pytest.mark.parametrize("script", sorted(TOOLS.glob("*.sh")), ids=lambda path: path.name)
def test_scripts_parse(script: Path) -> None:
    """bash reads every line of them."""
    subprocess.run(["bash", "-n", script], check=True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "no suite ''; there are bookworm and trixie"),
        (["sarge"], "no suite 'sarge'"),
        (["bookworm", "lunch"], "no part 'lunch'; there are demo, test, test-without-root and short-test"),
        (["bookworm", "demo", ""], "no part ''"),
    ],
)
def test_unknown_words_are_one_line_exit_2_and_nothing_made(words: list[str], expected: str, tmp_path: Path) -> None:
    """Before root, packages or a mirror are asked for."""
    done = subprocess.run(
        [TOOLS / "fresh.sh", *words],
        env={**os.environ, "FRESH_ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert expected in done.stderr
    assert list(tmp_path.iterdir()) == []
