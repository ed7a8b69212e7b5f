# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that names of a program, which may be hostile, never become code in the generated C."""

import json
import re
from pathlib import Path

import pytest

from softswitch.codegen import generate
from tests.softswitch.pipeline.harness import PROGRAMS

HOSTILE = ' */ taken(); /* *\\\n/ taken(); /* "; taken(); //\r\n taken();\n'
TEXT_IN_C = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


@pytest.mark.parametrize("program", ["l3", "again", "stateful"])
def test_no_name_becomes_code(program: str, tmp_path: Path) -> None:
    """Names of actions, field lists and digests must not end the comment, string or line that contains them."""
    text = (PROGRAMS / f"{program}.json").read_text()
    document = json.loads(text)
    for item in (*document["actions"], *document["field_lists"], *document["learn_lists"]):
        text = text.replace(json.dumps(item["name"]), json.dumps(item["name"] + HOSTILE))
    path = tmp_path / "hostile.json"
    path.write_text(text)
    code = generate(path).replace("\\\n", "")  # a compiler joins such lines
    assert "taken();" in code
    assert "taken();" not in TEXT_IN_C.sub("", code)
