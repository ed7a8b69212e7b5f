# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Which of the HPCC simulator's two sets of constants an algorithm takes where nobody sets one: chosen here, for all.

The SFC paper takes HPCC's and DCQCN's parameters "from the HPCC simulator", which has two sets: what its `run.py`
writes for a run, and the example `mix/config.txt` (docs/sources.md#parameters-of-the-simulator). Constants that both
have alike stand as plain defaults in the algorithms' files.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Final, Literal, TypeVar

Preset = Literal["run.py", "mix/config.txt"]
DEFAULT_PRESET: Final = "run.py"
"""`run.py` works out rates for a network's speed, here the paper's 100 Gb/s; `mix/config.txt` is one example."""

Record = TypeVar("Record")

HPCC: Final[Mapping[str, Mapping[str, int]]] = {
    "run.py": {"additive_bps": 40_000_000, "min_rate_bps": 1_000_000_000},
    "mix/config.txt": {"additive_bps": 50_000_000, "min_rate_bps": 100_000_000},
}
"""`run.py --cc hp` at 100 Gb/s, and the file."""

DCQCN: Final[Mapping[str, Mapping[str, int]]] = {
    "run.py": {
        "increase_interval_ns": 300_000,
        "additive_bps": 20_000_000,
        "hyper_bps": 200_000_000,
        "min_rate_bps": 1_000_000_000,
    },
    "mix/config.txt": {
        "increase_interval_ns": 900_000,
        "additive_bps": 50_000_000,
        "hyper_bps": 100_000_000,
        "min_rate_bps": 100_000_000,
    },
}
"""`run.py --cc dcqcn` at 100 Gb/s, and the file."""


def filled(parameters: Record, preset: Mapping[str, int]) -> Record:
    """The parameters, model units, with those that nobody set (None) taken from a preset."""
    names = [item.name for item in fields(parameters)]  # type: ignore[arg-type]
    open_ = {name: preset[name] for name in names if name in preset and getattr(parameters, name) is None}
    return replace(parameters, **open_) if open_ else parameters  # type: ignore[type-var]
