# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calls on parser value sets. Methods have the names of the calls."""

from __future__ import annotations

from collections.abc import Callable

from softswitch.control import Commands
from softswitch.operations.value_sets import ValueSets
from softswitch.thrift.program import Program
from softswitch.thrift.refusals import Refused, ValueSetCode, refusing
from softswitch.thrift.values import as_bytes


class ParserValueSets:
    """The parser value sets of one switch."""

    def __init__(self, control: Commands, program: Program) -> None:
        self._sets = ValueSets(control)
        self._widths = program.value_sets

    def bm_parse_vset_add(self, context: int, value_set: str, value: bytes) -> None:
        self._change(self._sets.add, value_set, value)

    def bm_parse_vset_remove(self, context: int, value_set: str, value: bytes) -> None:
        self._change(self._sets.remove, value_set, value)

    def bm_parse_vset_get(self, context: int, value_set: str) -> list[bytes]:
        bits = self._check(value_set)
        return [as_bytes(value, bits) for value in self._sets.values(value_set)]

    def bm_parse_vset_clear(self, context: int, value_set: str) -> None:
        self._check(value_set)
        self._sets.clear(value_set)

    def _change(self, change: Callable[[str, int], None], name: str, value: bytes) -> None:
        """Add or remove a value. Raise Refused if it does not fit the set's width."""
        self._check(name)
        with refusing(ValueSetCode.ERROR):
            change(name, int.from_bytes(value, "big"))

    def _check(self, name: str) -> int:
        """Return the width of a value set. Raise Refused if the program has no such set."""
        if name not in self._widths:
            raise Refused(ValueSetCode.INVALID_NAME, f"no parser value set {name!r}")
        return self._widths[name]
