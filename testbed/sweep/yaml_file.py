# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""YAML of a person, with bounds: no key twice, no depth that a stack cannot hold, no aliases that grow without end.

Gives plain values (mappings, lists, text, numbers, true and false, null). Knows nothing of sweeps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from wire.input.bounded_file import read_bounded_text
from wire.input.validation import shortened, shown

MOST_BYTES = 1_000_000
MOST_LEVELS = 20
MOST_VALUES = 200_000
"""In a file, aliases written out."""
_PLAIN = (str, int, float, bool, type(None))


class _BoundedLoader(yaml.SafeLoader):  # type: ignore[misc]
    """PyYAML's own reader, which counts while it reads."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._levels = 0
        self._values = 0
        self._sizes: dict[int, int] = {}
        """Values below a node that is read to its end, by the node's identity."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            node = super().compose_node(parent, index)
            self._count(self._sizes.get(id(node), MOST_VALUES))
            return node
        if self._levels == MOST_LEVELS:
            raise ValueError(f"nested more than {MOST_LEVELS} levels deep")
        before = self._values
        self._levels += 1
        node = super().compose_node(parent, index)
        self._levels -= 1
        self._count(1)
        self._sizes[id(node)] = self._values - before
        return node

    def _count(self, values: int) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES} values, every alias written out")

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise ValueError(f"{shortened(key.value)} is there twice")
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else None)
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


def read_yaml(path: Path) -> Any:
    """The content of a file. OSError, or ValueError of one line for what is no YAML or more than one can mean."""
    text = read_bounded_text(path, MOST_BYTES)
    try:
        found = yaml.load(text, _BoundedLoader)
    except yaml.MarkedYAMLError as error:
        mark = "" if error.problem_mark is None else f", line {error.problem_mark.line + 1}"
        raise ValueError(f"not YAML: {error.problem}{mark}") from error
    except yaml.YAMLError as error:
        raise ValueError(f"not YAML: {str(error).splitlines()[0]}") from error
    except ValueError as error:
        raise ValueError(f"not YAML of a sweep: {shortened(str(error))}") from error
    _check_plain(found, "")
    return found


def _check_plain(value: Any, where: str) -> None:
    """ValueError for dates, sets and bytes, and for text and numbers that cannot be written as UTF-8 text."""
    if isinstance(value, dict):
        for key, each in value.items():
            if not isinstance(key, str):
                raise ValueError(f"{where}{shown(key)}: a key must be text")
            _check_plain(each, f"{where}{shortened(key)}.")
    elif isinstance(value, list):
        for each in value:
            _check_plain(each, where)
    elif not isinstance(value, _PLAIN):
        raise ValueError(f"{where.rstrip('.')}: must be text, a number, true, false or a list, not {shown(value)}")
    elif isinstance(value, str):
        value.encode()
