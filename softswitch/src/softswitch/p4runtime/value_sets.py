# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Parser value sets. A member has a value for each match field of the set; the switch stores their concatenation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from grpc import StatusCode

from softswitch.control import Commands
from softswitch.operations.value_sets import ValueSets
from softswitch.p4runtime import messages
from softswitch.p4runtime.byte_strings import decoded, encoded
from softswitch.p4runtime.info import Info, ValueSetInfo, find
from softswitch.p4runtime.status import invalid, refuse, refusing, unimplemented


class ParserValueSets:
    """The parser value sets of a switch."""

    def __init__(self, control: Commands, info: Info) -> None:
        self.control = control
        self._info = info

    def write(self, kind: int, message: Any) -> None:
        value_set = self._value_set(message.value_set_id)
        if kind != messages.v1.Update.MODIFY:
            raise invalid(f"value set {value_set.name} can only be modified")
        values = [_value(value_set, member.match) for member in message.members]
        if len(set(values)) < len(values):
            refuse(StatusCode.ALREADY_EXISTS, f"a member of value set {value_set.name} is given twice")
        if len(values) > value_set.size:
            text = f"{len(values)} members do not fit in value set {value_set.name} of size {value_set.size}"
            refuse(StatusCode.RESOURCE_EXHAUSTED, text)
        with refusing():
            ValueSets(self.control).replace(value_set.name, values)

    def read(self, message: Any) -> Iterator[Any]:
        number = message.value_set_id
        value_sets = self._info.value_sets.values() if number == 0 else [self._value_set(number)]
        for value_set in value_sets:
            with refusing():
                values = ValueSets(self.control).values(value_set.name)
            answer = messages.v1.ValueSetEntry(value_set_id=value_set.id)
            for value in values:
                answer.members.add(match=_match(value_set, value))
            yield answer

    def _value_set(self, number: int) -> ValueSetInfo:
        return find(self._info.value_sets, number, "value set")


def _value(value_set: ValueSetInfo, match: Any) -> int:
    """Return the concatenation of a member's fields. Raise Refusal if one is unknown, missing or malformed."""
    given = {field.field_id: field for field in match}
    if len(given) != len(match) or set(given) != {field.id for field in value_set.fields}:
        ids = ", ".join(str(field.id) for field in value_set.fields)
        raise invalid(f"a member of value set {value_set.name} needs each of its match fields once: {ids}")
    value = 0
    for field in value_set.fields:
        what = f"match field {field.id} of value set {value_set.name}"
        if field.match_type != messages.config.MatchField.EXACT:
            raise unimplemented(f"{what} is not exact; as on BMv2, the switch compares the whole value")
        if given[field.id].WhichOneof("field_match_type") != "exact":
            raise invalid(f"{what} is of kind exact")
        value = value << field.bitwidth | decoded(given[field.id].exact.value, field.bitwidth, what)
    return value


def _match(value_set: ValueSetInfo, value: int) -> list[Any]:
    """Return the match fields of a member, in the order of the P4Info."""
    match = []
    for field in reversed(value_set.fields):
        part = value & (1 << field.bitwidth) - 1
        match.append(messages.v1.FieldMatch(field_id=field.id, exact={"value": encoded(part)}))
        value >>= field.bitwidth
    return match[::-1]
