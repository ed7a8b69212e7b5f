# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Names of a program, which anybody may have written, are text in the C that is made of it and never code."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from softswitch.codegen import generate

PROGRAMS = Path(__file__).resolve().parents[1] / "programs" / "artifacts"
HOSTILE = ' */ taken(); /* *\\\n/ taken(); /* "; taken(); //\r\n taken();\n'
TEXT_IN_C = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


@pytest.mark.parametrize("program", ["l3", "again", "stateful"])
def test_no_name_becomes_code(program: str, tmp_path: Path) -> None:
    """None of actions, field lists and digests ends the comment, the string or the line that it is in."""
    text = (PROGRAMS / f"{program}.json").read_text()
    document = json.loads(text)
    for each in (*document["actions"], *document["field_lists"], *document["learn_lists"]):
        text = text.replace(json.dumps(each["name"]), json.dumps(each["name"] + HOSTILE))
    path = tmp_path / "hostile.json"
    path.write_text(text)
    made = generate(path).replace("\\\n", "")  # as a compiler joins lines
    assert "taken();" in made
    assert "taken();" not in TEXT_IN_C.sub("", made)
