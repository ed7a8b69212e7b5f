# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loads a whole BMv2 JSON: version, stateful objects, actions, calculations, checksums; calls the other loaders.

It must not know C.
"""

from __future__ import annotations

from typing import Any

from softswitch.codegen.ir.blocks import Array, Checksum, FieldList, Program
from softswitch.codegen.ir.lifetimes import pass_of_fields
from softswitch.codegen.ir.names import Scope
from softswitch.codegen.ir.nodes import Action, FieldRef, Param
from softswitch.codegen.ir.source import Json
from softswitch.codegen.load.expressions import ExpressionLoader
from softswitch.codegen.load.parser import load_parser
from softswitch.codegen.load.pipelines import load_pipelines
from softswitch.codegen.load.types import load_types

JSON_MAJOR = 2
JSON_MINOR_OLDEST = 18
JSON_MINOR_NEWEST = 24


def load_program(document: Any, name: str) -> Program:
    """Return the typed form of a BMv2 JSON document. Raise CodegenError for unsupported constructs."""
    root = Json(document)
    _check_version(root)
    program = Program(name)
    load_types(root, program)
    load_parser(root, program)
    _load_arrays(root, program)
    for item in root.items("extern_instances"):
        raise item.error(f"extern instance '{item['name'].text()}' of type '{item['type'].text()}' is not supported")
    _load_field_lists(root, program)
    _load_actions(root, program)
    _load_calculations(root, program)
    load_pipelines(root, program)
    program.local_fields = pass_of_fields(program)
    return program


def _check_version(root: Json) -> None:
    version = root["__meta__"]["version"]
    major, minor = version[0].integer(), version[1].integer()
    if major != JSON_MAJOR or not JSON_MINOR_OLDEST <= minor <= JSON_MINOR_NEWEST:
        known = f"{JSON_MAJOR}.{JSON_MINOR_OLDEST} to {JSON_MAJOR}.{JSON_MINOR_NEWEST}"
        raise version.error(f"BMv2 JSON version {major}.{minor} is not one of {known}")


def _load_arrays(root: Json, program: Program) -> None:
    scope = Scope()
    expressions = ExpressionLoader(program)
    for number, item in enumerate(root.items("register_arrays")):
        name = item["name"].text()
        program.registers[name] = Array(
            number, name, scope.unique(name), item["size"].integer(), bits=item["bitwidth"].integer()
        )
    for number, item in enumerate(root.items("counter_arrays")):
        name = item["name"].text()
        direct = item.flag("is_direct")
        count = 0 if direct else item["size"].integer()
        table = item["binding"].text() if direct else ""
        program.counters[name] = Array(number, name, scope.unique(name), count, direct=direct, table=table)
    for number, item in enumerate(root.items("meter_arrays")):
        name = item["name"].text()
        direct = item.flag("is_direct")
        target = item.get("result_target")
        program.meters[name] = Array(
            number,
            name,
            scope.unique(name),
            item["size"].integer(),
            direct=direct,
            counts_bytes=item["type"].text() == "bytes",
            rates=item["rate_count"].integer(),
            result=expressions.field(target) if direct and target is not None else None,
        )


def _load_field_lists(root: Json, program: Program) -> None:
    expressions = ExpressionLoader(program)
    for member, lists in (("field_lists", program.field_lists), ("learn_lists", program.digests)):
        for item in root.items(member):
            fields = []
            for element in item.items("elements"):
                ref = expressions.expression(element)
                if not isinstance(ref, FieldRef):
                    raise element.error(f"a field list element of type '{element['type'].text()}' is not supported")
                fields.append(ref)
            number = item["id"].integer()
            lists[number] = FieldList(number, item["name"].text(), tuple(fields))


def _load_actions(root: Json, program: Program) -> None:
    scope = Scope()
    expressions = ExpressionLoader(program)
    for item in root.items("actions"):
        number = item["id"].integer()
        name = item["name"].text()
        params = tuple(Param(p["name"].text(), p["bitwidth"].integer()) for p in item.items("runtime_data"))
        primitives = tuple(expressions.primitive(p) for p in item.items("primitives"))
        program.actions[number] = Action(number, name, scope.unique(name), params, primitives, item)
    if sorted(program.actions) != list(range(len(program.actions))):
        raise root["actions"].error("action ids are not 0, 1, 2, ...")


def _load_calculations(root: Json, program: Program) -> None:
    scope = Scope()
    expressions = ExpressionLoader(program)
    for item in root.items("calculations"):
        name = item["name"].text()
        program.calculations[name] = expressions.calculation(item, name, scope.unique(name))
    for item in root.items("checksums"):
        if item["type"].text() != "generic":
            raise item["type"].error(f"checksum of type '{item['type'].text()}' is not supported")
        calculation = program.calculations.get(item["calculation"].text())
        if calculation is None:
            raise item["calculation"].error(f"unknown calculation '{item['calculation'].text()}'")
        condition = item.get("if_cond")
        program.checksums.append(
            Checksum(
                name=item["name"].text(),
                target=expressions.field(item["target"]),
                calculation=calculation,
                condition=None if condition is None else expressions.expression(condition),
                update=_default_true(item, "update"),
                verify=_default_true(item, "verify"),
                where=item,
            )
        )


def _default_true(item: Json, key: str) -> bool:
    return True if item.get(key) is None else item.flag(key)
