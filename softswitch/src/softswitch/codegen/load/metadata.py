# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Finds the metadata fields of a program that the target stores. It must not know other headers.

As in BMv2, a field is found by the target's name for it, `HEADER.FIELD`. p4c gives P4_16 programs aliases for these
names; P4_14 programs have headers and fields with these names themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.lifetimes import FieldName
from softswitch.codegen.ir.source import Json

_NEEDED = ("ingress_port", "packet_length", "instance_type", "egress_spec", "egress_port")
"""The fields of standard_metadata without which BMv2's simple_switch accepts no program."""
_QUEUEING = ("enq_timestamp", "enq_qdepth", "deq_timedelta", "deq_qdepth")
_TARGET_NAMES = {
    "standard_metadata": (
        "ingress_port",
        "egress_spec",
        "egress_port",
        "instance_type",
        "packet_length",
        "parser_error",
        "checksum_error",
    ),
    "intrinsic_metadata": (
        "ingress_global_timestamp",
        "egress_global_timestamp",
        "mcast_grp",
        "egress_rid",
        "priority",
    ),
    "queueing_metadata": (*_QUEUEING, "qid"),
}
"""The fields that BMv2's simple_switch knows, by the header in their names. Members of struct sw_standard_metadata have
the names of the fields."""

_LONG_MEMBERS = ("ingress_global_timestamp", "egress_global_timestamp", "enq_time")
"""The members of 64 bits. All others have 32 bits."""
_FOR_WIDE_FIELDS = {"enq_timestamp": "enq_time"}
"""The members for fields of more than 32 bits, which P4_14 programs have."""

OWN_METADATA = "softswitch_metadata_h"
"""The type of a header in a program's metadata whose fields are softswitch's own. p4c keeps the names of header types,
but not of metadata. The header is never valid, and BMv2 ignores it."""
OWN_FIELDS = ["egress_queue"]


@dataclass(frozen=True)
class _Place:
    """A field, and the place in the document that gives it to the target."""

    name: FieldName
    where: Json


def load_metadata(root: Json, program: Program) -> None:
    """Map the fields that the target stores to members of struct sw_standard_metadata."""
    places = _aliases(root, program)
    for header, fields in _TARGET_NAMES.items():
        found = {}
        for field in fields:
            place = places.get(f"{header}.{field}") or _own_field(root, program, (header, field))
            if place is not None:
                found[field] = place
        if header == "queueing_metadata" and not set(_QUEUEING).issubset(found):
            continue  # BMv2 sets all of these fields or none
        for field, place in found.items():
            program.std_fields[place.name] = _member(program, place, field)
    for field in _NEEDED:
        if field not in program.std_fields.values():
            raise root["headers"].error(f"no field 'standard_metadata.{field}', which every v1model program has")
    for instance in program.headers.values():
        if instance.type.name == OWN_METADATA:
            program.std_fields.update({(instance.name, member): member for member in OWN_FIELDS})


def _aliases(root: Json, program: Program) -> dict[str, _Place]:
    """Return the fields that have an alias, by alias."""
    places = {}
    for alias in root.items("field_aliases"):
        name = alias[1][0].text(), alias[1][1].text()
        if _field_bits(program, name) is None:
            raise alias[1].error(f"no field '{'.'.join(name)}'")
        places[alias[0].text()] = _Place(name, alias)
    return places


def _own_field(root: Json, program: Program, name: FieldName) -> _Place | None:
    """Return a field of the program that has the target's name itself."""
    return None if _field_bits(program, name) is None else _Place(name, root["headers"])


def _field_bits(program: Program, name: FieldName) -> int | None:
    header = program.headers.get(name[0])
    return next((f.bits for f in header.type.fields if f.name == name[1]), None) if header is not None else None


def _member(program: Program, place: _Place, member: str) -> str:
    """Return the member for a field that the target knows by a name. Raise CodegenError if it cannot hold the field."""
    header, name = place.name
    field = next(f for f in program.headers[header].type.fields if f.name == name)
    if field.bits > 32:
        member = _FOR_WIDE_FIELDS.get(member, member)
    most = 64 if member in _LONG_MEMBERS else 32
    if field.bits > most or field.signed or field.varbit:
        form = "varbit" if field.varbit else f"{'int' if field.signed else 'bit'}<{field.bits}>"
        raise place.where.error(f"'{header}.{name}' of type {form}: the switch has bit<{most}> for it at most")
    return member
