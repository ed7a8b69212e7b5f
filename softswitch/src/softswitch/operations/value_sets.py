# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads and changes the parser value sets of a switch, for the servers of control protocols and for scripts.

A value is a number: the concatenation of the elements of the select key, without padding.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from softswitch.control import CommandError, Commands


@dataclass(frozen=True)
class ValueSets:
    """The parser value sets of one switch, by name. A refused call raises CommandError, which names the reason."""

    control: Commands

    def widths(self) -> dict[str, int]:
        """Return the width in bits of each value set."""
        lines = (line.split() for line in self.control.command("show_pvs").splitlines())
        return {name: int(width.strip("[]")) for name, width in lines}

    def add(self, name: str, value: int) -> None:
        """Add a value; adding it again changes nothing."""
        self.control.command(f"pvs_add {name} {value:#x}")

    def remove(self, name: str, value: int) -> None:
        """Remove a value; removing an absent value changes nothing."""
        self.control.command(f"pvs_remove {name} {value:#x}")

    def values(self, name: str) -> list[int]:
        """Return the values in rising order."""
        return [int(word, 16) for word in self.control.command(f"pvs_get {name}").split()]

    def clear(self, name: str) -> None:
        """Remove all values."""
        self.control.command(f"pvs_clear {name}")

    def replace(self, name: str, values: Iterable[int]) -> None:
        """Make these values the whole content. If one does not fit the set's width, nothing changes."""
        before, after = set(self.values(name)), set(values)
        width = self.widths()[name]
        for value in after:
            if value < 0 or value.bit_length() > width:
                raise CommandError(f"'{value:#x}' does not fit in {width} bits")
        for value in after - before:
            self.add(name, value)
        for value in before - after:
            self.remove(name, value)
