# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Apache Thrift as `simple_switch` speaks it: strict binary protocol, services multiplexed by name, one TCP connection.

Owns the encoding and the connection; must not know any service. A value is its type and its bytes, so a struct is
nothing but its fields one after the other. The subset is what BMv2 needs: no sets, no doubles, maps in answers only.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np

_VERSION = 0x8001_0000
_CALL, _REPLY, _EXCEPTION = 1, 2, 3
_STOP, _BOOL, _BYTE, _I16, _I32, _I64, _STRING, _STRUCT, _MAP, _LIST = 0, 2, 3, 6, 8, 10, 11, 12, 13, 15
_FIXED = {_BOOL: ">?", _BYTE: ">b", _I16: ">h", _I32: ">i", _I64: ">q"}
_LONGEST_BYTES = 64 << 20


class ThriftError(ConnectionError):
    """The other side does not speak as expected, or does not know the method."""


class DeclaredException(Exception):
    """An exception that the service declares: its fields by number."""

    def __init__(self, fields: dict[int, Any]) -> None:
        super().__init__(f"fields {fields}")
        self.fields = fields


@dataclass(frozen=True, slots=True)
class Value:
    """A Thrift value: its type and its encoding."""

    kind: int
    payload: bytes


def boolean(value: bool) -> Value:
    return Value(_BOOL, struct.pack(">?", value))


def i32(value: int) -> Value:
    return Value(_I32, struct.pack(">i", value))


def i64(value: int) -> Value:
    return Value(_I64, struct.pack(">q", value))


def binary(value: bytes) -> Value:
    return Value(_STRING, struct.pack(">i", len(value)) + value)


def text(value: str) -> Value:
    return binary(value.encode())


def record(*fields: Value | None) -> Value:
    """A struct whose fields are numbered from 1; a None leaves an optional field out."""
    return record_of({number: field for number, field in enumerate(fields, start=1) if field is not None})


def record_of(fields: dict[int, Value]) -> Value:
    """A struct with these field numbers."""
    parts = [struct.pack(">bh", field.kind, number) + field.payload for number, field in fields.items()]
    return Value(_STRUCT, b"".join(parts) + bytes((_STOP,)))


def list_of_binaries(values: Sequence[bytes]) -> Value:
    return _list(_STRING, [binary(value) for value in values])


def list_of_records(values: Sequence[Value]) -> Value:
    return _list(_STRUCT, values)


def _list(kind: int, values: Sequence[Value]) -> Value:
    return Value(_LIST, struct.pack(">bi", kind, len(values)) + b"".join(value.payload for value in values))


class ThriftConnection:
    """One connection that is kept. Calls are answered in order; not thread-safe."""

    def __init__(self, host: str, port: int, *, timeout_s: float = 10.0) -> None:
        """Raises OSError if nobody listens there."""
        self._socket = socket.create_connection((host, port), timeout=timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._input = self._socket.makefile("rb")
        self._sequence = 0

    def call(self, service: str, method: str, *arguments: Value) -> Any:
        """Calls a method with its arguments in order and returns its result, None for void.

        A struct becomes a dict by field number, a list of 64-bit integers an array, a string bytes. Raises
        DeclaredException, ThriftError, and OSError when the connection is gone.
        """
        self._sequence += 1
        name = f"{service}:{method}"
        head = struct.pack(">I", _VERSION | _CALL) + text(name).payload + struct.pack(">i", self._sequence)
        self._socket.sendall(head + record(*arguments).payload)
        return self._answer(method)

    def _answer(self, method: str) -> Any:
        word = self._number(">I")
        if word & 0xFFFF_0000 != _VERSION:
            raise ThriftError(f"not a strict binary Thrift message: 0x{word:08x}")
        self._string()
        if self._number(">i") != self._sequence:
            raise ThriftError(f"an answer to {method} that was not asked for")
        fields = self._value(_STRUCT)
        if word & 0xFF == _EXCEPTION:
            raise ThriftError(f"{method}: {fields.get(1, b'').decode(errors='replace')}")
        declared = [value for number, value in fields.items() if number > 0]
        if declared:
            raise DeclaredException(declared[0])
        return fields.get(0)

    def _value(self, kind: int) -> Any:
        if kind in _FIXED:
            return self._number(_FIXED[kind])
        if kind == _STRING:
            return self._string()
        if kind == _LIST:
            return self._list()
        if kind == _MAP:
            return self._map()
        if kind != _STRUCT:
            raise ThriftError(f"an answer with a value of type {kind}")
        fields: dict[int, Any] = {}
        while (field_kind := self._number(">b")) != _STOP:
            number = self._number(">h")
            fields[number] = self._value(field_kind)
        return fields

    def _list(self) -> Any:
        kind, count = self._number(">b"), self._length()
        if kind == _I64:
            return np.frombuffer(self._exactly(8 * count), dtype=">i8").astype(np.int64)
        return [self._value(kind) for _ in range(count)]

    def _map(self) -> dict[Any, Any]:
        key_kind, value_kind, count = self._number(">b"), self._number(">b"), self._length()
        return {self._value(key_kind): self._value(value_kind) for _ in range(count)}

    def _string(self) -> bytes:
        return self._exactly(self._length())

    def _length(self) -> int:
        length = self._number(">i")
        if not 0 <= length <= _LONGEST_BYTES:
            raise ThriftError(f"an answer with a length of {length}")
        return length

    def _number(self, layout: str) -> int:
        number: int = struct.unpack(layout, self._exactly(struct.calcsize(layout)))[0]
        return number

    def _exactly(self, count: int) -> bytes:
        content = self._input.read(count)
        if len(content) != count:
            raise ThriftError("the switch closed its Thrift connection")
        return content

    def close(self) -> None:
        """Ends the connection."""
        self._input.close()
        self._socket.close()

    def __enter__(self) -> ThriftConnection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
