# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A table of named rows, such as the congestion controls, to which files of users add rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar, cast

from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.shown import shown

Row = TypeVar("Row")
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,40}")
"""Names are parts of options and of folders; `+` separates a scheme from its congestion control."""


class Table(Mapping[str, Row], Generic[Row]):
    """Rows by name. The table knows which rows an extension added, so that they can be removed again."""

    all: list[Table[Any]] = []  # noqa: RUF012 (all tables of the process)

    def __init__(self, kind: str, rows: Mapping[str, Row] | Iterable[tuple[str, Row]] = ()) -> None:
        """Make a table of rows of this kind; messages name the kind."""
        self.kind = kind
        self._rows = dict(rows)
        self._places: dict[str, tuple[str, str]] = {}
        """Module and name of each row that is not loaded."""
        self._owners: dict[str, str] = {}
        Table.all.append(self)

    @classmethod
    def of_modules(cls, kind: str, package: str, places: Mapping[str, str]) -> Table[Row]:
        """Make a table of rows in modules of a package, as `MODULE:NAME`. A module is imported when its row is used."""
        table = cls(kind)
        for name, place in places.items():
            module, _, attribute = place.partition(":")
            table._places[name] = f"{package}.{module}", attribute
        table._rows = dict.fromkeys(places, cast(Row, None))
        return table

    def add(self, name: str, row: Row, owner: str) -> None:
        """Add the row of an extension. UsageError for a name that is taken, or that no option could contain."""
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise UsageError(f"{self.kind} {shown(name)}: a name has lowercase letters, digits and hyphens, 41 at most")
        if name in self._rows:
            taken = f"{self._owners[name]} has one" if name in self._owners else "the testbed has one"
            raise UsageError(f"{self.kind} {name!r}: {taken} with this name; choose another")
        self._rows[name] = row
        self._owners[name] = owner

    def replace(self, name: str, row: Row) -> None:
        """Replace a row that an extension has added."""
        self._rows[name] = row

    def remove(self, owner: str) -> None:
        """Remove all rows of an extension."""
        for name in [name for name, other in self._owners.items() if other == owner]:
            del self._rows[name], self._owners[name]

    def fill(self, rows: Mapping[str, Row]) -> None:
        """Add rows of the testbed itself, whose modules load slowly. No name of an extension can be equal to theirs."""
        self._rows = {**rows, **self._rows}

    def owner(self, name: str) -> str | None:
        """Return the extension that added a row, or None for a row of the testbed itself."""
        return self._owners.get(name)

    def of(self, owner: str) -> dict[str, Row]:
        """Return the rows of an extension."""
        return {name: self._rows[name] for name, other in self._owners.items() if other == owner}

    def __getitem__(self, name: str) -> Row:
        if name in self._places:
            module, attribute = self._places[name]
            self._rows[name] = getattr(import_module(module), attribute)
            del self._places[name]
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows
