# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`--set key=value`: which part of a run each key speaks of. Values are read as YAML-like scalars by pydantic later."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from testbed.errors import UsageError

_PARTS = ("workload", "topology", "switch", "transport")


@dataclass(frozen=True)
class Overrides:
    """The settings of each part; a key without a prefix is the workload's."""

    workload: dict[str, Any] = field(default_factory=dict)
    topology: dict[str, Any] = field(default_factory=dict)
    switch: dict[str, Any] = field(default_factory=dict)
    transport: dict[str, Any] = field(default_factory=dict)


def parse_overrides(settings: Sequence[str]) -> Overrides:
    """Reads `degree=8`, `switch.q_th_bytes=250000`, `topology.tors=4`. UsageError for anything else."""
    overrides = Overrides()
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals or not key or not value:
            raise UsageError(f"--set {setting!r} is not of the form key=value")
        part, dot, name = key.partition(".")
        if not dot:
            part, name = "workload", key
        if part not in _PARTS or not name:
            raise UsageError(f"--set {key}: a key is NAME or one of {', '.join(f'{each}.NAME' for each in _PARTS)}")
        getattr(overrides, part)[name] = _scalar(value)
    return overrides


def as_settings(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """`--set` words."""
    return tuple(f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in settings.items())


def _scalar(text: str) -> Any:
    """A JSON value where the text is one (numbers, true, null, lists), else the text itself."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
