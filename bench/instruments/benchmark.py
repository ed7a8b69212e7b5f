# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a benchmark is and what it hands back: figures, some of them with a target.

A figure says whether it reached its target; nothing here decides what is measured, and no benchmark fails because a
machine is slow.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal


class Skipped(Exception):
    """A benchmark cannot run here; the text says why."""


@dataclass(frozen=True)
class Target:
    """A bound that a figure should keep to."""

    bound: float
    kind: Literal["at least", "at most"]

    def is_reached_by(self, value: float) -> bool:
        return bool(value >= self.bound if self.kind == "at least" else value <= self.bound)

    def __str__(self) -> str:
        return f"{'≥' if self.kind == 'at least' else '≤'} {self.bound:g}"


@dataclass(frozen=True)
class Figure:
    """One measured number. `unit` is "" for a ratio; `note` is for people."""

    name: str
    value: float
    unit: str = ""
    target: Target | None = None
    note: str = ""

    @property
    def is_reached(self) -> bool | None:
        """Whether the target is reached, None without one."""
        return None if self.target is None else self.target.is_reached_by(self.value)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "reached": self.is_reached}


class Benchmark(ABC):
    """One thing that is measured, in one run, back to back."""

    name: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def run(self) -> list[Figure]:
        """Measures. Skipped when this machine lacks what it needs."""
