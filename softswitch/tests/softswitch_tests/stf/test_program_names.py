# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the translation of a test's short names and key notations to control commands."""

from pathlib import Path

import pytest

from softswitch.stf.program import ProgramNames
from softswitch.stf.statements import Add, SetDefault, StfError, parse


def program() -> ProgramNames:
    keys = [
        {"name": "h.a", "match_type": "ternary", "target": ["h", "a"]},
        {"name": "h.b", "match_type": "lpm", "target": ["h", "b"]},
        {"name": "h.c", "match_type": "range", "target": ["h", "c"]},
        {"name": "s[0].$valid$", "match_type": "exact", "target": ["s[0]", "$valid$"]},
    ]
    table = {"name": "In.t", "key": keys, "match_type": "range", "type": "simple"}
    return ProgramNames(
        {
            "header_types": [{"name": "h_t", "fields": [["a", 16, False], ["b", 32, False], ["c", 8, False]]}],
            "headers": [{"name": "h", "header_type": "h_t"}],
            "actions": [{"id": 0, "runtime_data": [{"name": "x"}, {"name": "y"}]}, {"id": 1, "runtime_data": []}],
            "pipelines": [{"tables": [{**table, "actions": ["In.go", "In.stop"], "action_ids": [0, 1]}]}],
            "counter_arrays": [],
            "register_arrays": [],
        }
    )


def command(line: str) -> str:
    [statement] = parse(line)
    if isinstance(statement, SetDefault):
        return program().set_default_command(statement)
    assert isinstance(statement, Add)
    return program().add_command(statement)


def test_wildcards_become_masks_and_prefixes() -> None:
    """A `*` matches any digit; a larger priority in the test is a smaller one in the command."""
    assert command("add t 7 a:0x1*2* b:0x0a01**** c:3->4 s$0:1 go(y:2, x:0x10)") == (
        "table_add In.t In.go 0x1020&&&0xf0f0 0xa010000/16 3->4 1 => 0x10 2 9993"
    )


def test_defaults_take_arguments_in_the_actions_order() -> None:
    assert command("setdefault In.t In.go(y:1, x:2)") == "table_set_default In.t In.go 2 1"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("add u stop()", "no table 'u', there are: In.t"),
        ("add t jump()", "no action of table In.t 'jump', there are: In.go, In.stop"),
        ("add t d:1 stop()", "no key 'd' in table In.t"),
        ("add t a:1 h.a:2 stop()", "key h.a is given twice"),
        ("add t b:0x0*01 stop()", "not at its end"),
        ("add t go(x:1)", r"parameters \(x, y\), each once"),
        ("add t s$0:0x* stop()", "not a plain number"),
        ("add t b:1&&&0x* stop()", "is not a number with"),
    ],
)
def test_unknown_names_are_refused_with_a_list_of_known_names(line: str, complaint: str) -> None:
    with pytest.raises(StfError, match=complaint):
        command(line)


def test_a_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    for text in ("[]", "{", '{"actions": []}'):
        path = tmp_path / "x.json"
        path.write_text(text)
        with pytest.raises(StfError, match=r"is not a BMv2 program"):
            ProgramNames.load(path)
