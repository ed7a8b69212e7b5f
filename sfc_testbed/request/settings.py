# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Settings of a run by key: words of `--set key=value`, and the part that each key belongs to.

The value of a word is JSON if possible, else text. A text such as 250KB becomes a number if the key states its unit.
The models check types and bounds later: this module only refuses values that no setting can have.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from types import MappingProxyType
from typing import Any

from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.quantities import has_unit, in_unit, unit_of
from sfc_testbed.request.shown import nearest, shortened, shown

# The limit for a number that is typed as digits. The largest setting has 19 digits.
_MOST_DIGITS = 40
# 1e6 is a whole number; above this limit a float is not exact.
_MOST_EXACT = 2**53
_MOST_LEVELS = 20

PARTS = ("workload", "topology", "switch", "transport", "program")
_REPLACED: Mapping[str, str] = {
    "switch.pause_grain_ns": "switch.pause_rounding",
    "switch.spraying": "switch.load_balancing=spray or =ecmp",
}
"""Settings of older releases and the settings that replace them. Commands in stored runs may have an old setting."""


Settings = Mapping[str, Any]
"""Values by key, such as {"degree": 8, "switch.q_th_bytes": 250000}. Keys without a prefix belong to the workload."""


NO_SETTINGS: Settings = MappingProxyType({})


@dataclass(frozen=True)
class SettingsByPart:
    """The settings of each part of a run, without prefixes."""

    workload: dict[str, Any] = field(default_factory=dict)
    topology: dict[str, Any] = field(default_factory=dict)
    switch: dict[str, Any] = field(default_factory=dict)
    transport: dict[str, Any] = field(default_factory=dict)
    program: dict[str, Any] = field(default_factory=dict)
    """The settings of a user's P4 program."""


def parse_settings(words: Iterable[str]) -> dict[str, Any]:
    """Parse words such as `degree=8` or `switch.q_th_bytes=250000`. Raises UsageError for invalid ones."""
    settings: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key or not value:
            raise UsageError(f"--set {shown(word)} is not of the form key=value")
        _part_of(key)
        if key in settings:
            raise UsageError(f"--set {shortened(key)}: given twice")
        settings[key] = parse_value(key, value)
    return settings


def settings_words(settings: Settings) -> tuple[str, ...]:
    """Return settings as words for `--set`."""
    return tuple(f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in settings.items())


def by_part(settings: Settings) -> SettingsByPart:
    """Return the settings of each part. Raises UsageError for an unknown part."""
    parts = SettingsByPart()
    for key, value in settings.items():
        part, name = _part_of(key)
        values = getattr(parts, part)
        if name in values:  # settings of the workload may have the prefix `workload.`
            raise UsageError(f"--set {shortened(key)}: {part}.{shortened(name)} is given twice")
        values[name] = value
    return parts


def _part_of(key: str) -> tuple[str, str]:
    """Return the part of a key and the name within the part."""
    if key in _REPLACED:
        raise UsageError(f"--set {key}: no longer exists; leave it out, or use {_REPLACED[key]}")
    part, dot, name = key.partition(".")
    if not dot:
        return "workload", key
    if part not in PARTS or not name:
        keys = ", ".join(f"{prefix}.NAME" for prefix in PARTS)
        raise UsageError(f"--set {shortened(key)}: a key is NAME or one of {keys}{nearest(part, PARTS)}")
    return part, name


def parse_value(key: str, text: str) -> Any:
    """Return the value of a text: JSON (numbers, true, null, lists), a quantity with a unit, or the text itself."""
    try:
        value = _json_value(text)
        if isinstance(value, str) and unit_of(key) is not None and "," in value:  # such as 100G,25G or [100G, 25G]
            value = [word.strip() for word in value.removeprefix("[").removesuffix("]").split(",")]
        check_depth(value)
        return _in_units(key, value)
    except RecursionError as error:
        raise UsageError(f"--set {shortened(key)}: nested too deeply") from error
    except ValueError as error:
        raise UsageError(f"--set {shortened(key)}: {error}") from error


def _json_value(text: str) -> Any:
    try:
        return json.loads(
            text, parse_int=_whole, parse_float=_number, parse_constant=_no_number, object_pairs_hook=_mapping
        )
    except json.JSONDecodeError:
        return text


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        repeated = next(name for place, (name, _) in enumerate(pairs) if name in dict(pairs[:place]))
        raise ValueError(f"{shortened(repeated)} is given twice")
    return mapping


def _in_units(name: str, value: Any) -> Any:
    """Return a value whose texts with units, such as 250KB, are numbers of the unit that their name states."""
    if isinstance(value, dict):
        return {key: _in_units(key, item) for key, item in value.items()}
    if isinstance(value, list):
        return [_in_units(name, item) for item in value]
    unit = unit_of(name)
    return in_unit(value, unit) if unit is not None and isinstance(value, str) and has_unit(value) else value


def checked_value(key: str, value: Any) -> Any:
    """Return a value from a file, and read texts such as 1e6 as `--set` does.

    Raises UsageError for values that no setting can have.
    """
    return parse_value(key, value if isinstance(value, str) else json.dumps(value))


def check_depth(value: Any, levels: int = _MOST_LEVELS) -> None:
    """Raise ValueError for lists or mappings that are nested more deeply than any setting."""
    if isinstance(value, (list, dict)):
        if levels == 0:
            raise ValueError("nested too deeply")
        for item in value.values() if isinstance(value, dict) else value:
            check_depth(item, levels - 1)


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a number has at most {_MOST_DIGITS} digits, not {len(text)}")
    return int(text)


def _number(text: str) -> float:
    """Return a whole number for 1e6 or 2.5e9, but a float for 2.0."""
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{shortened(text)} is too large for a number")
    exact = Decimal(text)  # a float would make 4096 of 4095.9999999999999999e0
    is_whole = "e" in text.lower() and exact == exact.to_integral_value() and abs(exact) <= _MOST_EXACT
    return int(exact) if is_whole else value


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is not a number that a setting can have")
