# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes small Chakra execution traces for tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sfc_testbed.scenarios.traffic.traces.chakra_format import messages

METADATA, LOAD, COMPUTATION, SEND, RECEIVE, COLLECTIVE = 1, 2, 4, 5, 6, 7


def node(number: int, kind: int, *after: int, us: int = 0, values: str = "", **attributes: Any) -> dict[str, Any]:
    """Return a node that depends on the nodes `after`."""
    return {"id": number, "type": kind, "after": after, "us": us, "values": values, "attributes": attributes}


def content_of(nodes: Sequence[Mapping[str, Any]]) -> bytes:
    """Return the content of one rank's file."""
    metadata, node_class = messages()
    records = [metadata(version="0.0.4")]
    for item in nodes:
        record = node_class(id=item["id"], type=item["type"], duration_micros=item["us"], data_deps=item["after"])
        record.inputs.values = item["values"]
        for name, value in item["attributes"].items():
            attribute = record.attr.add(name=name)
            if isinstance(value, bool):
                attribute.bool_val = value
            elif isinstance(value, str):
                attribute.string_val = value
            elif isinstance(value, list):
                attribute.bool_list.values.extend(value)
            else:
                attribute.int64_val = value
        records.append(record)
    return b"".join(_varint(len(data)) + data for data in (record.SerializeToString() for record in records))


def _varint(number: int) -> bytes:
    digits = []
    while number >= 0x80:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])


def write_trace(folder: Path, *ranks: Sequence[Mapping[str, Any]], name: str = "trace") -> Path:
    """Write the files of a trace and return its name without `.RANK.et`."""
    for rank, nodes in enumerate(ranks):
        (folder / f"{name}.{rank}.et").write_bytes(content_of(nodes))
    return folder / name
