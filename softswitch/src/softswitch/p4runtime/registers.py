# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Registers, whose cells are bit strings or booleans in v1model programs that BMv2's compiler accepts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from softswitch.control import Commands
from softswitch.operations import arrays
from softswitch.p4runtime import messages
from softswitch.p4runtime.byte_strings import decoded, decoded_signed, encoded, encoded_signed
from softswitch.p4runtime.indexes import read_cells, written_cells
from softswitch.p4runtime.info import ArrayInfo, Info, find
from softswitch.p4runtime.status import invalid, refusing


class Registers:
    """The registers of a switch."""

    def __init__(self, control: Commands, info: Info) -> None:
        self.control = control
        self._info = info

    def write(self, kind: int, message: Any) -> None:
        register = find(self._info.registers, message.register_id, "register")
        cells = written_cells(kind, register, message)
        value = _value(register, message.data)
        with refusing():
            for index in cells:
                arrays.write_register(self.control, register.array, index, value)

    def read(self, message: Any) -> Iterator[Any]:
        for register, cells in read_cells(self._info.registers, message.register_id, "register", message):
            with refusing():
                values = arrays.read_register(self.control, register.array, cells[0] if len(cells) == 1 else None)
            for index, value in zip(cells, values, strict=True):
                answer = messages.v1.RegisterEntry(register_id=register.id, data=_data(register, value))
                answer.index.index = index
                yield answer


def _is_signed(register: ArrayInfo) -> bool:
    return bool(register.p4info.type_spec.bitstring.HasField("int"))


def _data(register: ArrayInfo, value: int) -> Any:
    if register.p4info.type_spec.HasField("bool"):
        return messages.v1.P4Data(bool=bool(value))
    if _is_signed(register):
        return messages.v1.P4Data(bitstring=encoded_signed(value, register.array.bits))
    return messages.v1.P4Data(bitstring=encoded(value))


def _value(register: ArrayInfo, data: Any) -> int:
    what = f"the value of {register.array.name}"
    kind = "bool" if register.p4info.type_spec.HasField("bool") else "bitstring"
    if data.WhichOneof("data") != kind:
        raise invalid(f"{what} is not of the form {kind}")
    if kind == "bool":
        return int(data.bool)
    decode = decoded_signed if _is_signed(register) else decoded
    return decode(data.bitstring, register.array.bits, what)
