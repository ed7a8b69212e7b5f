# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loads calculations: the inputs of a hash, a checksum or an action selector. It must not know C."""

from __future__ import annotations

from softswitch.codegen.ir.blocks import Calculation
from softswitch.codegen.ir.nodes import Const, FieldRef, HeaderRef
from softswitch.codegen.ir.source import Json
from softswitch.codegen.load.expressions import ExpressionLoader

HASHES = (
    "crc16",
    "crc32",
    "crc16_custom",
    "crc32_custom",
    "crcCCITT",
    "csum16",
    "cksum16",
    "xor16",
    "xor32",
    "identity",
)


def load_calculation(item: Json, name: str, c_name: str, expressions: ExpressionLoader) -> Calculation:
    """Load a calculation, or a selector, which has the same form."""
    algorithm = item["algo"].text()
    if algorithm not in HASHES:
        raise item["algo"].error(f"hash algorithm '{algorithm}' is not supported")
    inputs: list[FieldRef | HeaderRef | tuple[int, int]] = []
    with_payload = False
    for element in item.items("input"):
        if element["type"].text() == "payload":
            with_payload = True
            continue
        operand = expressions.expression(element)
        if isinstance(operand, Const):
            inputs.append((operand.value, element["bitwidth"].integer()))
        elif isinstance(operand, FieldRef | HeaderRef):
            inputs.append(operand)
        else:
            raise element.error(f"calculation input of type '{element['type'].text()}' is not supported")
    return Calculation(name, c_name, algorithm, tuple(inputs), with_payload, item)
