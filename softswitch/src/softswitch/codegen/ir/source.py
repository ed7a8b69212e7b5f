# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""JSON values that carry their path and their P4 source position.

Owns paths, types of JSON values and source positions, so that every error message can name its place. It must not know
the meaning of the values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


class CodegenError(Exception):
    """A program that cannot be turned into C.

    The message names the construct, its JSON path and, if the JSON holds them, the P4 file and line.
    """


@dataclass(frozen=True)
class Json:
    """A value inside a JSON document, its path from the root, and the nearest P4 source position around it."""

    value: Any
    path: str = "$"
    source: str = ""

    def __getitem__(self, key: str | int) -> Json:
        """Return the member `key`. Raise CodegenError if it is missing."""
        if isinstance(key, str):
            if not isinstance(self.value, dict) or key not in self.value:
                raise self.error(f"missing member '{key}'")
            return self._child(self.value[key], f".{key}")
        if not isinstance(self.value, list) or not 0 <= key < len(self.value):
            raise self.error(f"missing element {key}")
        return self._child(self.value[key], f"[{key}]")

    def get(self, key: str) -> Json | None:
        """Return the member `key`, or None if it is missing or null."""
        if not isinstance(self.value, dict) or self.value.get(key) is None:
            return None
        return self[key]

    def items(self, key: str | None = None) -> Iterator[Json]:
        """Yield the elements of this array, or of the array member `key` (a missing member is an empty array)."""
        array = self if key is None else self.get(key)
        if array is None:
            return
        if not isinstance(array.value, list):
            raise array.error("expected an array")
        for index, element in enumerate(array.value):
            yield array._child(element, f"[{index}]")

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.error(f"expected a string, found {self.value!r}")
        return self.value

    def integer(self) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.error(f"expected an integer, found {self.value!r}")
        return self.value

    def hexstr(self) -> int:
        """Return the integer in BMv2's notation of constants: hexadecimal, with or without 0x, possibly negative."""
        try:
            return int(self.text(), 16)
        except ValueError:
            raise self.error(f"expected a hexadecimal string, found {self.value!r}") from None

    def flag(self, key: str) -> bool:
        """Return the boolean member `key`, or False if it is missing."""
        member = self.get(key)
        if member is None:
            return False
        if not isinstance(member.value, bool):
            raise member.error("expected a boolean")
        return member.value

    @property
    def log_place(self) -> str:
        """The file and line of this value itself for the packet log, `FILE(LINE) ` as in BMv2; empty if unknown."""
        info = self.value.get("source_info") if isinstance(self.value, dict) else None
        if not isinstance(info, dict) or not info.get("filename"):
            return ""
        return f"{info['filename']}({info.get('line', '?')}) "

    @property
    def fragment(self) -> str:
        """The P4 source text of this value itself; empty if unknown."""
        info = self.value.get("source_info") if isinstance(self.value, dict) else None
        return str(info.get("source_fragment", "")).strip() if isinstance(info, dict) else ""

    def error(self, message: str) -> CodegenError:
        """Return a CodegenError with the path and source position of this value."""
        place = f" ({self.source})" if self.source else ""
        return CodegenError(f"{message} at {self.path}{place}")

    def _child(self, value: Any, step: str) -> Json:
        return Json(value, self.path + step, _position(value) or self.source)


def _position(value: Any) -> str:
    """Return `file:line` from a value's own source_info, or an empty string."""
    info = value.get("source_info") if isinstance(value, dict) else None
    if not isinstance(info, dict) or not info.get("filename"):
        return ""
    name = str(info["filename"]).rsplit("/", 1)[-1]
    return f"{name}:{info.get('line', '?')}"
