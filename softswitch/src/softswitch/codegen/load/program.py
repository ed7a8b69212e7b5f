# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loads a whole BMv2 JSON: version, stateful objects, actions, calculations, checksums; calls the other loaders.

It must not know C.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from softswitch.codegen.ir.blocks import Array, Checksum, FieldList, Program
from softswitch.codegen.ir.lifetimes import pass_of_fields
from softswitch.codegen.ir.limits import MOST_MEMBERS, MOST_NUMBER, MOST_PACKED_BYTES
from softswitch.codegen.ir.names import Scope
from softswitch.codegen.ir.nodes import Action, Const, FieldRef, Param
from softswitch.codegen.ir.source import CodegenError, Json
from softswitch.codegen.load.expressions import ExpressionLoader
from softswitch.codegen.load.metadata import load_metadata
from softswitch.codegen.load.parser import load_parser
from softswitch.codegen.load.pipelines import load_pipelines
from softswitch.codegen.load.state_size import StateSize
from softswitch.codegen.load.types import load_types

JSON_MAJOR = 2
JSON_MINOR_TESTED = 18
JSON_MINOR_NEWEST = 24
_MOST_RATES = 255
_COUNTER_BYTES = 16
_METER_BYTES = 128


def load_program(document: Any, name: str) -> Program:
    """Return the typed form of a BMv2 JSON document. Raise CodegenError for unsupported constructs."""
    root = Json(document)
    note = _version_note(root)
    program = Program(name, version_note=note)
    try:
        with root.locating():
            _load(root, program)
    except CodegenError as error:
        raise CodegenError(f"{error}{note}") from error
    return program


def _load(root: Json, program: Program) -> None:
    for member in ("header_types", "headers", "parsers", "actions", "pipelines"):
        root[member].items()
    state = StateSize()
    load_types(root, program)
    load_metadata(root, program)
    load_parser(root, program)
    _load_arrays(root, program, state)
    for item in root.items("extern_instances"):
        raise item.error(f"extern instance '{item['name'].text()}' of type '{item['type'].text()}' is not supported")
    _load_field_lists(root, program)
    _load_actions(root, program)
    _load_calculations(root, program)
    load_pipelines(root, program, state)
    program.local_fields = pass_of_fields(program)


def _version_note(root: Json) -> str:
    """Return what to add to the reason why a program of an old version is refused; empty for other versions.

    As in BMv2, a program without a version is read, and only a newer version than the newest known one is refused.
    """
    meta = root.get("__meta__") if isinstance(root.value, dict) else None
    version = None if meta is None else meta.get("version")
    if version is None:
        return _advice("has no version")
    major, minor = version[0].integer(), version[1].integer()
    newest = f"{JSON_MAJOR}.{JSON_MINOR_NEWEST}"
    if major != JSON_MAJOR or minor > JSON_MINOR_NEWEST:
        raise version.error(f"BMv2 JSON version {major}.{minor} is not one of {JSON_MAJOR}.0 to {newest}")
    return "" if minor >= JSON_MINOR_TESTED else _advice(f"has version {major}.{minor}")


def _advice(state: str) -> str:
    return f"; the JSON {state}: p4c 1.2.0 or newer writes version {JSON_MAJOR}.{JSON_MINOR_TESTED} or newer"


def _load_arrays(root: Json, program: Program, state: StateSize) -> None:
    expressions = ExpressionLoader(program)
    for number, item in enumerate(root.items("register_arrays")):
        name = item["name"].text()
        count, bits = _size(item, "register"), item["bitwidth"].width(least=1)
        state.add(item, count, 2 * ((bits + 7) // 8))
        program.registers[name] = Array(number, name, count, bits=bits)
    for number, item in enumerate(root.items("counter_arrays")):
        name = item["name"].text()
        direct = item.flag("is_direct")
        count = 0 if direct else _size(item, "counter")
        state.add(item, count, _COUNTER_BYTES)
        table = item["binding"].text() if direct else ""
        program.counters[name] = Array(number, name, count, direct=direct, table=table)
    for number, item in enumerate(root.items("meter_arrays")):
        name = item["name"].text()
        direct = item.flag("is_direct")
        target = item.get("result_target")
        count = _size(item, "meter")
        state.add(item, 0 if direct else count, _METER_BYTES)
        program.meters[name] = Array(
            number,
            name,
            count,
            direct=direct,
            counts_bytes=item["type"].text() == "bytes",
            rates=item["rate_count"].integer(0, _MOST_RATES),
            result=expressions.field(target) if direct and target is not None else None,
        )


def _size(item: Json, kind: str) -> int:
    return item["size"].integer(0, MOST_NUMBER, f"the size of {kind} '{item['name'].text()}'")


def _load_field_lists(root: Json, program: Program) -> None:
    expressions = ExpressionLoader(program)
    for member, lists in (("field_lists", program.field_lists), ("learn_lists", program.digests)):
        for item in root.items(member):
            fields = []
            for element in item.items("elements"):
                ref = expressions.expression(element)
                if isinstance(ref, Const) and member == "field_lists":
                    continue  # a copy of a packet keeps no constant
                if not isinstance(ref, FieldRef):
                    raise element.error(f"a field list element of type '{element['type'].text()}' is not supported")
                fields.append(ref)
            name, n_bytes = item["name"].text(), sum((ref.field.bits + 7) // 8 for ref in fields)
            if n_bytes > MOST_PACKED_BYTES:
                raise item.error(f"field list '{name}' of {n_bytes} bytes; the limit is {MOST_PACKED_BYTES}")
            number = item["id"].integer()
            lists[number] = FieldList(number, name, tuple(fields))


def _load_actions(root: Json, program: Program) -> None:
    scope = Scope("a")
    expressions = ExpressionLoader(program)
    for item in root.items("actions"):
        number = item["id"].integer()
        name = item["name"].text()
        parameters = item.items("runtime_data", MOST_MEMBERS)
        params = tuple(Param(p["name"].text(), p["bitwidth"].width()) for p in parameters)
        primitives = tuple(expressions.primitive(p) for p in item.items("primitives"))
        program.actions[number] = Action(number, name, scope.unique(), params, primitives, item)
    if sorted(program.actions) != list(range(len(program.actions))):
        raise root["actions"].error("action ids are not 0, 1, 2, ...")


def _load_calculations(root: Json, program: Program) -> None:
    scope = Scope("c")
    expressions = ExpressionLoader(program)
    for item in root.items("calculations"):
        name = item["name"].text()
        program.calculations[name] = expressions.calculation(item, name, scope.unique())
    for item in root.items("checksums"):
        target = expressions.field(item["target"])
        if item["type"].text() == "ipv4":
            form = _ipv4_calculation(item, target)
            name = form["name"].text()
            program.calculations[name] = expressions.calculation(form, name, scope.unique())
        elif item["type"].text() == "generic":
            name = item["calculation"].text()
        else:
            raise item["type"].error(f"checksum of type '{item['type'].text()}' is not supported")
        if name not in program.calculations:
            raise item["calculation"].error(f"unknown calculation '{name}'")
        condition = item.get("if_cond")
        program.checksums.append(
            Checksum(
                name=item["name"].text(),
                target=target,
                calculation=program.calculations[name],
                condition=None if condition is None else expressions.expression(condition),
                update=_default_true(item, "update"),
                verify=_default_true(item, "verify"),
                where=item,
            )
        )


def _ipv4_calculation(item: Json, target: FieldRef) -> Json:
    """Return the calculation of an old program's checksum, which names none: all fields of the header but the target.

    BMv2 reads this form too.
    """
    fields = [field.name for field in target.header.type.fields if field.name != target.field.name]
    inputs = [{"type": "field", "value": [target.header.name, field]} for field in fields]
    name = f"the calculation of checksum '{item['name'].text()}'"
    return replace(item, value={"name": name, "input": inputs, "algo": "csum16"})


def _default_true(item: Json, key: str) -> bool:
    return True if item.get(key) is None else item.flag(key)
