# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Counts the memory of a program's tables, registers, counters and meters, which must fit into the switch."""

from __future__ import annotations

from softswitch.codegen.ir.limits import MOST_STATE_BYTES
from softswitch.codegen.ir.source import Json


class StateSize:
    """A sum of the memory of the objects so far."""

    def __init__(self) -> None:
        self._bytes = 0

    def add(self, item: Json, count: int, element_bytes: int) -> None:
        """Add an object. Raise CodegenError above the limit."""
        self._bytes += count * element_bytes
        if self._bytes > MOST_STATE_BYTES:
            what = f"the state of the program up to '{item['name'].text()}' of {count} elements"
            raise item.error(f"{what} takes {self._bytes} bytes; the limit is {MOST_STATE_BYTES}")
