# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What is said of an error that nobody expected."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from command.failure import unexpected


@pytest.fixture(autouse=True)
def _files_of_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_the_line_of_ours_or_the_users_is_named(tmp_path: Path) -> None:
    """Not that of a library below it: an algorithm that somebody has added may be to blame."""
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("{")
    line = unexpected(caught.value, ["run", "incast"])
    here = Path(__file__).relative_to(Path(__file__).parents[2])
    assert re.match(rf"unexpected JSONDecodeError \(Expecting .*\) in {here}:\d+; its traceback is in ", line)
    assert "if this is not in code of your own, please report it" in line
    [saved] = tmp_path.iterdir()
    assert saved.read_text().startswith("runner.py run incast\n")
    assert (saved.stat().st_mode & 0o777) == 0o600


def test_an_error_of_no_place_has_none() -> None:
    """As one that came from another process."""
    assert unexpected(ValueError("x"), []).startswith("unexpected ValueError (x); its traceback is in ")


@pytest.mark.parametrize("name", ["", "<string>", "/nowhere/x.py", "nowhere/x.py"])
def test_code_of_no_file_is_passed_over(name: str) -> None:
    """The line that called it is named."""
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile("1 / 0", name, "exec"))
    assert " in tests/command/test_failure.py:" in unexpected(caught.value, [])
