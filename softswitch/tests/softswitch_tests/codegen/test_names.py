# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that names and texts of a program are data in its C code, whatever characters they contain."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softswitch.build import SOURCE_DIR
from softswitch.codegen.generate import generate
from softswitch.codegen.ir.names import c_comment, c_message, c_string
from softswitch_tests.codegen.documents import compiled, written

HOSTILE = (
    "\r#include </etc/passwd>\r",
    "\n#include </etc/passwd>\n",
    "\r\n taken();\r\n",
    ' */ taken(); /* *\\\n/ taken(); /* "; taken(); //\r\n taken();\n',
    "??/\n taken(); ??!",
    '"; taken(); //',
    "*/ taken(); /*",
    "*\\\r/ taken();",
    "\\",
    "%s%n%1000000d",
    "\0 taken();",
    "\u202e taken(); \u2066",
    "\u2028\u2029\x85\x0b\x0c taken();",
    "\x1b[2J",
    "NULL",
    "packet",
    "return",
    "\u00e9\U0001f4a5",
    "",
    "x" * 5000,
)
KINDS = ("type", "op", "match_type", "algo")
"""The members whose values are words of the format, not names."""
NAMED = ("name", "filename", "source_fragment", "header_type", "union_type")
TEXTS = st.one_of(st.sampled_from(HOSTILE), st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
TEXT_IN_C = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def renamed(value: Any, names: dict[str, str]) -> Any:
    """Return a document with other names of its objects, wherever it has these names."""
    if isinstance(value, dict):
        following = value.get("next_tables")
        copied = {key: renamed(item, names) for key, item in value.items() if key not in KINDS}
        if following is not None:
            copied["next_tables"] = {names.get(key, key): renamed(item, names) for key, item in following.items()}
        return {**{key: value[key] for key in KINDS if key in value}, **copied}
    if isinstance(value, list):
        return [renamed(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def names_of(value: Any) -> set[str]:
    """Return the names of objects and of fields in a document."""
    found: set[str] = set()
    if isinstance(value, dict):
        found |= {value[key] for key in NAMED if isinstance(value.get(key), str)}
        found |= {row[0] for row in value.get("fields", ()) if isinstance(row, list)}
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        found |= names_of(item)
    return found


def with_suffix(name: str, suffix: str) -> dict[str, Any]:
    """Return a compiled program with a suffix at each of its names and texts."""
    document = compiled(name)
    standard = next(t for t in document["header_types"] if t["name"] == "standard_metadata")
    known = {"ingress", "egress", "standard_metadata", "parser", "deparser", "last", "next"}
    known |= {row[0] for row in standard["fields"]}
    names = {old: old + suffix for old in names_of(document) - known}
    copied: dict[str, Any] = renamed(document, names)
    return copied


def code_alone(document: Any, folder: Path, *, logs: bool) -> str:
    """Return the C code of a program without comments and strings."""
    return TEXT_IN_C.sub('""', generate(written(folder, document), logs=logs))


@pytest.mark.parametrize("logs", [False, True])
@pytest.mark.parametrize("program", ["again", "controlled", "l3", "sets", "stacks", "stateful"])
@pytest.mark.parametrize("suffix", HOSTILE, ids=range(len(HOSTILE)))
def test_no_name_changes_the_code(program: str, suffix: str, logs: bool, tmp_path: Path) -> None:
    code = code_alone(with_suffix(program, suffix), tmp_path, logs=logs)
    assert code == code_alone(compiled(program), tmp_path, logs=logs)
    assert not any(character in code for character in "\r\0\\")


@given(suffix=TEXTS)
@settings(max_examples=100, derandomize=True, database=None, deadline=None)
def test_no_drawn_name_changes_the_code(suffix: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("names")
    assert code_alone(with_suffix("l3", suffix), folder, logs=True) == code_alone(compiled("l3"), folder, logs=True)


@given(text=st.text(st.characters()))
@settings(max_examples=300, derandomize=True, database=None, deadline=None)
def test_strings_and_comments_are_one_line_of_printable_ascii(text: str) -> None:
    for c in (c_string(text), c_message(text), c_comment(text)):
        assert re.fullmatch(r"[ -~]*", c)
        assert "??" not in c
    assert re.fullmatch(r'"(?:\\[0-7]{3}|[^"\\])*"', c_string(text) and c_message(text))
    assert c_comment(text).count("*/") == 1


def test_a_compiler_reads_the_strings_as_they_were(tmp_path: Path) -> None:
    """The C compiler, with trigraphs and warnings as errors, gets back the bytes of each text."""
    texts = [text for text in HOSTILE if "\0" not in text]
    lines = [f"    puts({c_message(text)}); {c_comment(text)}" for text in texts]
    source = tmp_path / "strings.c"
    source.write_text("#include <stdio.h>\nint main(void)\n{\n" + "\n".join(lines) + "\n    return 0;\n}\n")
    command = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", str(tmp_path / "strings"), str(source)]
    subprocess.run(command, check=True)
    printed = subprocess.run([str(tmp_path / "strings")], capture_output=True, check=True).stdout
    assert printed == "".join(f"{text}\n" for text in texts).encode()


@pytest.mark.parametrize("logs", [False, True])
def test_hostile_names_compile_without_a_word_of_the_compiler(logs: bool, tmp_path: Path) -> None:
    document = with_suffix("l3", "".join(HOSTILE[:18]))
    source = tmp_path / "hostile.c"
    source.write_text(generate(written(tmp_path, document), logs=logs), encoding="ascii")
    flags = ["-std=gnu11", "-trigraphs", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{SOURCE_DIR}"]
    done = subprocess.run(["cc", *flags, *["-DSW_PACKET_LOG"] * logs, source], capture_output=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, b"")
