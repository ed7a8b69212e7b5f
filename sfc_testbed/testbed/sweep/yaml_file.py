# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads YAML files written by users, with limits on duplicate keys, depth and the expansion of aliases.

The result has plain values: mappings, lists, text, numbers, true, false and null. It is independent of sweeps.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from sfc_testbed.request.bounded_file import read_bounded_text
from sfc_testbed.request.shown import shortened, shown

MOST_BYTES = 1_000_000
MOST_LEVELS = 20
MOST_VALUES = 200_000
"""Maximum number of values in a file, with aliases expanded."""
_PLAIN = (str, int, float, bool, type(None))


class _BoundedLoader(yaml.SafeLoader):  # type: ignore[misc]
    """PyYAML's safe loader, extended by counters for depth and values."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._levels = 0
        self._values = 0
        self._sizes: dict[int, int] = {}
        """Number of values below each completely read node, by the node's `id`."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            node = super().compose_node(parent, index)
            self._count(self._sizes.get(id(node), MOST_VALUES))
            return node
        if self._levels == MOST_LEVELS:
            raise ValueError(f"nested more than {MOST_LEVELS} levels deep")
        values_before = self._values
        self._levels += 1
        node = super().compose_node(parent, index)
        self._levels -= 1
        self._count(1)
        self._sizes[id(node)] = self._values - values_before
        return node

    def _count(self, values: int) -> None:
        self._values += values
        if self._values > MOST_VALUES:
            raise ValueError(f"more than {MOST_VALUES} values with all aliases expanded")

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise ValueError(f"{shortened(key.value)} is defined twice")
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else None)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


def read_yaml(path: Path) -> Any:
    """Return the content of a YAML file. Raise OSError, or ValueError with one line for invalid or large content."""
    text = read_bounded_text(path, MOST_BYTES)
    try:
        content = yaml.load(text, _BoundedLoader)
    except yaml.MarkedYAMLError as error:
        mark = "" if error.problem_mark is None else f", line {error.problem_mark.line + 1}"
        raise ValueError(f"not YAML: {error.problem}{mark}") from error
    except yaml.YAMLError as error:
        raise ValueError(f"not YAML: {str(error).splitlines()[0]}") from error
    except ValueError as error:
        raise ValueError(f"not YAML of a sweep: {shortened(str(error))}") from error
    _check_plain(content, "")
    return content


def _check_plain(value: Any, where: str) -> None:
    """Raise ValueError for dates, sets and bytes, and for text that cannot be encoded as UTF-8."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if not isinstance(key, str):
                raise ValueError(f"{where}{shown(key)}: a key must be text")
            _check_plain(entry, f"{where}{shortened(key)}.")
    elif isinstance(value, list):
        for entry in value:
            _check_plain(entry, where)
    elif not isinstance(value, _PLAIN):
        raise ValueError(f"{where.rstrip('.')}: must be text, a number, true, false or a list, not {shown(value)}")
    elif isinstance(value, str):
        value.encode()
