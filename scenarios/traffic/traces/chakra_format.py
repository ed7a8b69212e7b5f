# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The protobuf records of Chakra execution traces (github.com/mlcommons/chakra, schema 0.0.4 and 1.0).

A file is a sequence of records, each after its length as a varint: the metadata, then one record for each node. No
package of Chakra is published, so the messages are made here from the field numbers of its schema. Fields that are not
used are left out; protobuf skips them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

INVALID, METADATA, LOAD, STORE, COMPUTATION, SEND, RECEIVE, COLLECTIVE = range(8)
"""Types of nodes."""
TYPES = (
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
)
"""The schema's names of the types of nodes."""
COLLECTIVE_TYPES = (
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
)
"""The schema's names of the values of the attribute `comm_type`."""
_PACKAGE = "sfc_testbed.chakra"
_FIELD = descriptor_pb2.FieldDescriptorProto
_VALUES = {
    "int32_val": (7, _FIELD.TYPE_INT32),
    "int64_val": (9, _FIELD.TYPE_INT64),
    "uint32_val": (11, _FIELD.TYPE_UINT32),
    "uint64_val": (13, _FIELD.TYPE_UINT64),
    "sint32_val": (15, _FIELD.TYPE_SINT32),
    "sint64_val": (17, _FIELD.TYPE_SINT64),
    "fixed32_val": (19, _FIELD.TYPE_FIXED32),
    "fixed64_val": (21, _FIELD.TYPE_FIXED64),
    "sfixed32_val": (23, _FIELD.TYPE_SFIXED32),
    "sfixed64_val": (25, _FIELD.TYPE_SFIXED64),
    "bool_val": (27, _FIELD.TYPE_BOOL),
    "string_val": (29, _FIELD.TYPE_STRING),
}
"""Numbers and types of the fields that may hold an attribute's value. Floats and most lists are not used."""
_BOOL_LIST = 28


class RecordError(ValueError):
    """A record that cannot be read; the message completes a sentence that begins with the file's name."""


@cache
def messages() -> tuple[Any, Any]:
    """Return the message classes of the metadata and of a node."""
    file = descriptor_pb2.FileDescriptorProto(name="sfc_testbed/chakra.proto", package=_PACKAGE, syntax="proto3")
    _add(file, "BoolList", ("values", 1, _FIELD.TYPE_BOOL, True))
    attribute = _add(file, "Attribute", ("name", 1, _FIELD.TYPE_STRING, False))
    attribute.oneof_decl.add(name="value")
    for name, (number, kind) in _VALUES.items():
        attribute.field.add(name=name, number=number, type=kind, label=_FIELD.LABEL_OPTIONAL, oneof_index=0)
    attribute.field.add(
        name="bool_list",
        number=_BOOL_LIST,
        type=_FIELD.TYPE_MESSAGE,
        type_name=f".{_PACKAGE}.BoolList",
        label=_FIELD.LABEL_OPTIONAL,
        oneof_index=0,
    )
    metadata = _add(file, "Metadata", ("version", 1, _FIELD.TYPE_STRING, False))
    _add(file, "InputsOutputs", ("values", 1, _FIELD.TYPE_STRING, False))
    node = _add(
        file,
        "Node",
        ("id", 1, _FIELD.TYPE_UINT64, False),
        ("name", 2, _FIELD.TYPE_STRING, False),
        ("type", 3, _FIELD.TYPE_INT32, False),
        ("ctrl_deps", 4, _FIELD.TYPE_UINT64, True),
        ("data_deps", 5, _FIELD.TYPE_UINT64, True),
        ("duration_micros", 7, _FIELD.TYPE_UINT64, False),
    )
    for message, name, number, kind, label in (
        (metadata, "attr", 2, "Attribute", _FIELD.LABEL_REPEATED),
        (node, "inputs", 8, "InputsOutputs", _FIELD.LABEL_OPTIONAL),
        (node, "attr", 10, "Attribute", _FIELD.LABEL_REPEATED),
    ):
        message.field.add(
            name=name, number=number, type=_FIELD.TYPE_MESSAGE, type_name=f".{_PACKAGE}.{kind}", label=label
        )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found = [pool.FindMessageTypeByName(f"{_PACKAGE}.{name}") for name in ("Metadata", "Node")]
    return message_factory.GetMessageClass(found[0]), message_factory.GetMessageClass(found[1])


def _add(file: Any, name: str, *fields: tuple[str, int, int, bool]) -> Any:
    """Add a message type with fields of name, number, type, and whether the field is repeated."""
    message = file.message_type.add(name=name)
    for field, number, kind, is_repeated in fields:
        label = _FIELD.LABEL_REPEATED if is_repeated else _FIELD.LABEL_OPTIONAL
        message.field.add(name=field, number=number, type=kind, label=label)
    return message


def nodes_of(content: bytes) -> Iterator[Any]:
    """Yield the nodes of a file. RecordError if it is no trace."""
    metadata, node = messages()
    records = _records(content)
    if content[:2] == b"\x1f\x8b":
        raise RecordError("is compressed; decompress it with gunzip")
    first = next(records, None)
    try:
        if first is None or not metadata.FromString(first[1]).ListFields():
            raise RecordError("does not begin with Chakra metadata; is it a Chakra trace?")
    except DecodeError as error:
        raise RecordError("does not begin with Chakra metadata; is it a Chakra trace?") from error
    for begin, record in records:
        try:
            yield node.FromString(record)
        except DecodeError as error:
            raise RecordError(f"has an invalid record at byte {begin}") from error


def _records(content: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each record with the position of its length."""
    begin = 0
    while begin < len(content):
        length, place, shift = 0, begin, 0
        while True:
            if place >= len(content) or shift > 28:
                raise RecordError(f"has an invalid length of a record at byte {begin}")
            byte = content[place]
            length |= (byte & 0x7F) << shift
            place, shift = place + 1, shift + 7
            if byte < 0x80:
                break
        if place + length > len(content):
            raise RecordError(
                f"ends in a record: {length} B are announced at byte {begin}, but {len(content) - place} B follow"
            )
        yield begin, content[place : place + length]
        begin = place + length


def attributes_of(node: Any) -> dict[str, Any]:
    """Return the attributes of a node whose values have a used type."""
    values = {}
    for attribute in node.attr:
        kind = attribute.WhichOneof("value")
        if kind == "bool_list":
            values[attribute.name] = tuple(attribute.bool_list.values)
        elif kind is not None:
            values[attribute.name] = getattr(attribute, kind)
    return values
