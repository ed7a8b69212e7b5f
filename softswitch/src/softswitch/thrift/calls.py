# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Answers a decoded call with the bytes of the answer.

Owns the mapping from calls to methods, and the encoding of refusals and errors. It opens no socket.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from thriftpy2.protocol.binary import TBinaryProtocol
from thriftpy2.thrift import TApplicationException
from thriftpy2.transport import TMemoryBuffer

from softswitch.control import Commands
from softswitch.thrift.arrays import Arrays
from softswitch.thrift.framing import Call
from softswitch.thrift.interface import SERVICES, WrongType, filled, interface
from softswitch.thrift.profiles import Profiles
from softswitch.thrift.program import Program
from softswitch.thrift.queues import Queues
from softswitch.thrift.refusals import NEVER, Refused
from softswitch.thrift.replication import Mirroring, Multicast
from softswitch.thrift.tables import Tables
from softswitch.thrift.target import Digests, Management
from softswitch.thrift.value_sets import ParserValueSets

Method = Callable[..., Any]

_REPLY, _EXCEPTION = 2, 3
_REFUSAL_FIELD = 1
_OPTIONAL = ("options",)
"""The arguments that clients may leave out."""


class Calls:
    """The implementation of BMv2's three services; `tell` receives a line for each refused call."""

    def __init__(
        self,
        control: Commands,
        program: Program,
        tell: Callable[[str], None],
        *,
        device_id: int = 0,
        thrift_port: int = 0,
        notifications: str | None = None,
    ) -> None:
        self.digests = Digests(control, program, device_id)
        management = Management(control, program, self.digests, device_id, thrift_port, notifications)
        parts: tuple[object, ...] = (
            Tables(control, program),
            Profiles(control, program),
            Arrays(control, program),
            ParserValueSets(control, program),
            Mirroring(control),
            Multicast(control),
            Queues(control),
            self.digests,
            management,
        )
        self._tell = tell
        self.methods: Mapping[str, Mapping[str, Method]] = {
            name: {method: _method(parts, method) for method in getattr(interface(), name).thrift_services}
            for name in SERVICES
        }

    def answer(self, call: Call) -> bytes:
        """Return the encoded answer to a call."""
        service, _, method = call.name.partition(":")
        if method not in self.methods.get(service, {}):
            self._tell(f"no call {call.name!r}")
            return _exception(method, call.sequence, TApplicationException.UNKNOWN_METHOD, f"no call {call.name!r}")
        declaration = getattr(interface(), service)
        result = getattr(declaration, f"{method}_result")()
        try:
            values = _values(filled(getattr(declaration, f"{method}_args")(), call.arguments))
            result.success = self.methods[service][method](*values)
        except Refused as refused:
            self._tell(f"{method}: {refused}")
            if _REFUSAL_FIELD not in result.thrift_spec:
                return _exception(method, call.sequence, TApplicationException.INTERNAL_ERROR, f"{refused}")
            result.refusal = interface().Refusal(refused.code)
        except (_BadArgument, WrongType) as error:
            self._tell(f"{method}: {error}")
            return _exception(method, call.sequence, TApplicationException.PROTOCOL_ERROR, f"{error}")
        return _encoded(method, _REPLY, call.sequence, result)


def without_program(call: Call) -> bytes:
    """Return the encoded answer to a call of a switch that has no program yet."""
    method = call.name.rpartition(":")[2]
    return _exception(method, call.sequence, TApplicationException.INTERNAL_ERROR, "the switch has no program yet")


class _BadArgument(Exception):
    """An argument is missing or out of range."""


def _method(parts: tuple[object, ...], name: str) -> Method:
    """Return the method that implements a call. Raise ValueError at the start of the server if there is none."""
    if name in NEVER:
        return lambda *_arguments: _refuse(name)
    [implementation] = (getattr(part, name) for part in parts if hasattr(part, name))
    method: Method = implementation
    return method


def _refuse(name: str) -> NoReturn:
    raise Refused(*NEVER[name])


def _values(arguments: Any) -> list[Any]:
    """Return the argument values in the order of the declaration."""
    values = []
    for _, name, *_ in arguments.thrift_spec.values():
        value = getattr(arguments, name)
        if value is None and name not in _OPTIONAL:
            raise _BadArgument(f"argument {name!r} is missing")
        if name == "context" and value != 0:
            raise _BadArgument(f"context {value}, and there is only 0")
        values.append(value)
    return values


def _exception(method: str, sequence: int, kind: int, text: str) -> bytes:
    return _encoded(method, _EXCEPTION, sequence, TApplicationException(kind, text))


def _encoded(method: str, kind: int, sequence: int, payload: Any) -> bytes:
    buffer = TMemoryBuffer()
    outgoing = TBinaryProtocol(buffer)
    outgoing.write_message_begin(method, kind, sequence)
    payload.write(outgoing)
    answer: bytes = buffer.getvalue()
    return answer
