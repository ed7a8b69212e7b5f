# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Small BMv2 programs for tests: one that a test completes, and copies of compiled programs with a change."""

import copy
import json
from pathlib import Path
from typing import Any

from softswitch.build import build_library
from softswitch.engine import SwitchEngine
from softswitch_tests.pipeline.harness import PROGRAMS
from softswitch_tests.programs.steered import SANITIZED

STANDARD = [["ingress_port", 9], ["egress_spec", 9], ["egress_port", 9], ["instance_type", 32], ["packet_length", 32]]


def field(header: str, name: str) -> dict[str, Any]:
    return {"type": "field", "value": [header, name]}


def constant(value: int) -> dict[str, Any]:
    return {"type": "hexstr", "value": hex(value)}


def operation(op: str, left: Any, right: Any) -> dict[str, Any]:
    return {"type": "expression", "value": {"op": op, "left": left, "right": right}}


def assign(to: dict[str, Any], value: Any) -> dict[str, Any]:
    return {"op": "assign", "parameters": [to, value]}


def state(name: str, following: str | None, number: int = 0, **members: Any) -> dict[str, Any]:
    transition = {"type": "default", "value": None, "mask": None, "next_state": following}
    plain = {"name": name, "id": number, "parser_ops": [], "transition_key": [], "transitions": [transition]}
    return {**plain, **members}


def table(name: str, following: str | None, number: int = 0) -> dict[str, Any]:
    """Return a table without a key that always runs action 0."""
    entry = {"action_id": 0, "action_const": True, "action_data": [], "action_entry_const": True}
    return {
        **{"name": name, "id": number, "key": [], "match_type": "exact", "type": "simple", "max_size": 1},
        **{"action_ids": [0], "actions": ["act"], "base_default_next": following, "next_tables": {"act": following}},
        "default_entry": entry,
    }


def program(*primitives: dict[str, Any], metadata: dict[str, list[list[Any]]] | None = None) -> dict[str, Any]:
    """Return a program of P4_14 form: in ingress, action 0 with these primitives; `metadata` are further structs."""
    structs = {"standard_metadata": STANDARD, "m": [["n", 32], ["wide", 1000]], **(metadata or {})}
    rows = list(enumerate(structs.items()))
    pipeline: dict[str, Any] = {"tables": [], "action_profiles": [], "conditionals": [], "init_table": None}
    return {
        "__meta__": {"version": [2, 18]},
        "header_types": [{"name": f"{name}_t", "id": i, "fields": fields} for i, (name, fields) in rows],
        "headers": [{"name": name, "id": i, "header_type": f"{name}_t", "metadata": True} for i, (name, _) in rows],
        "parsers": [{"name": "parser", "id": 0, "init_state": "start", "parse_states": [state("start", None)]}],
        "deparsers": [{"name": "deparser", "id": 0, "order": []}],
        "actions": [{"name": "act", "id": 0, "runtime_data": [], "primitives": list(primitives)}],
        "pipelines": [
            {**pipeline, "name": "ingress", "id": 0, "tables": [table("t", None)], "init_table": "t"},
            {**pipeline, "name": "egress", "id": 1},
        ],
    }


def compiled(name: str) -> dict[str, Any]:
    """Return the document of a program in the folder of these tests."""
    document: dict[str, Any] = json.loads((PROGRAMS / f"{name}.json").read_text(encoding="utf-8"))
    return document


def changed(document: dict[str, Any], place: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    """Return a copy of a document with another value in one place."""
    copied = copy.deepcopy(document)
    container: Any = copied
    for key in place[:-1]:
        container = container[key]
    container[place[-1]] = value
    return copied


def written(folder: Path, document: Any, name: str = "program") -> Path:
    path = folder / f"{name}.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def switch(folder: Path, document: Any) -> SwitchEngine:
    """Return a switch that runs a document."""
    return SwitchEngine(build_library(written(folder, document), sanitize=SANITIZED))
