# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The two parameter sets of the HPCC simulator, and the default choice between them for all algorithms.

The SFC paper takes the parameters of HPCC and DCQCN "from the HPCC simulator". The simulator has two sets: the values
that its `run.py` writes for a run, and the example `mix/config.txt` (docs/sources.md#parameters-of-the-simulator).
Parameters that are the same in both are plain defaults in the files of the algorithms.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Final, Literal, TypeVar, get_args

Preset = Literal["run.py", "mix/config.txt"]
PRESETS: Final[tuple[Preset, ...]] = get_args(Preset)
DEFAULT_PRESET: Final = "run.py"
"""`run.py` derives rates from the network's speed, here the paper's 100 Gb/s; `mix/config.txt` is only an example."""

Record = TypeVar("Record")

HPCC: Final[Mapping[str, Mapping[str, int]]] = {
    "run.py": {"additive_bps": 40_000_000, "min_rate_bps": 1_000_000_000},
    "mix/config.txt": {"additive_bps": 50_000_000, "min_rate_bps": 100_000_000},
}
"""Parameters of HPCC in each set; `run.py` was called as `run.py --cc hp` for 100 Gb/s."""

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
"""Parameters of DCQCN in each set; `run.py` was called as `run.py --cc dcqcn` for 100 Gb/s."""


def fill_unset(parameters: Record, preset: Mapping[str, int]) -> Record:
    """Return the parameters (model units) with unset values (None) taken from a preset."""
    names = [item.name for item in fields(parameters)]  # type: ignore[arg-type]
    unset = {name: preset[name] for name in names if name in preset and getattr(parameters, name) is None}
    return replace(parameters, **unset) if unset else parameters  # type: ignore[type-var]
