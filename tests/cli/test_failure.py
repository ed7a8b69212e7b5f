# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the message about an unexpected error."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sfc_testbed.cli.failure import unexpected


@pytest.fixture(autouse=True)
def _files_of_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def test_the_message_names_the_line_in_this_tree_or_in_user_code() -> None:
    """Lines of libraries below it are skipped. The cause may be an algorithm added by the user."""
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("{")
    line = unexpected(caught.value, ["run", "incast"])
    here = Path(__file__).relative_to(Path(__file__).parents[2])
    assert re.match(rf"unexpected JSONDecodeError \(Expecting .*\) in {here}:\d+; its traceback is in ", line)
    assert "if this is not in code of your own, please report it" in line


def test_an_error_without_a_traceback_has_no_place() -> None:
    """Errors from other processes have no traceback."""
    assert unexpected(ValueError("x"), []).startswith("unexpected ValueError (x); its traceback is in ")


@pytest.mark.parametrize("name", ["", "<string>", "/nowhere/x.py", "nowhere/x.py"])
def test_for_code_without_a_file_the_line_of_its_caller_is_named(name: str) -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        exec(compile("1 / 0", name, "exec"))
    assert " in tests/cli/test_failure.py:" in unexpected(caught.value, [])
