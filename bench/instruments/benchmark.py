# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The base class of benchmarks, and their results: figures, some of them with a target.

A figure reports whether it reached its target. A missed target is not an error: no benchmark fails on a slow machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal


class Skipped(Exception):
    """A benchmark cannot run on this machine; the text gives the reason."""


@dataclass(frozen=True)
class Target:
    """A lower or upper bound for a figure."""

    bound: float
    kind: Literal["at least", "at most"]

    def is_reached_by(self, value: float) -> bool:
        return bool(value >= self.bound if self.kind == "at least" else value <= self.bound)

    def __str__(self) -> str:
        return f"{'≥' if self.kind == 'at least' else '≤'} {self.bound:g}"


@dataclass(frozen=True)
class Figure:
    """A measured number. `unit` is empty for a ratio; `note` is a remark for the reader."""

    name: str
    value: float
    unit: str = ""
    target: Target | None = None
    note: str = ""

    @property
    def is_reached(self) -> bool | None:
        """Whether the figure reached its target; None without a target."""
        return None if self.target is None else self.target.is_reached_by(self.value)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "reached": self.is_reached}


class Benchmark(ABC):
    """A measurement whose figures all come from one run, so that they can be compared."""

    name: ClassVar[str]
    summary: ClassVar[str]

    @abstractmethod
    def run(self) -> list[Figure]:
        """Measure and return the figures. Raise Skipped when the machine lacks a requirement."""
