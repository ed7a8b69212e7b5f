# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Quantities of runs: named values with units, for claims, comparisons and sweeps. Extensions add rows to the table.

This module loads nothing slow, because processes that measure nothing load extensions too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfc_testbed.analysis.formatting import format_number
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.extensions import described
from sfc_testbed.request.shown import nearest, shown
from sfc_testbed.request.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from sfc_testbed.analysis.results.stored import Run

COLUMN = "quantity."
"""The prefix of the columns with quantities of extensions in the table of a sweep."""


class NotMeasured(Exception):
    """Raised if a run or a value that is needed does not exist; the text names it."""


@dataclass(frozen=True)
class Quantity:
    """A named value of a run. `measure` raises NotMeasured if the run has too little data for it."""

    name: str
    measure: Callable[[Run], float]
    write: Callable[[float], str] = format_number
    unit: str = ""
    """The unit on a plot's axis."""
    per_unit: float = 1.0
    """The divisor that converts a value to this unit."""

    @property
    def axis_label(self) -> str:
        """The label of a plot's axis, such as `Peak buffer (MB)`."""
        title = self.name[:1].upper() + self.name[1:]
        return f"{title} ({self.unit})" if self.unit else title


QUANTITIES: Table[Quantity] = Table("quantity")
"""The quantities by name. The names of the testbed's own contain spaces, so that extensions cannot take them."""


@dataclass(frozen=True)
class Measurements:
    """The quantities of extensions in one run."""

    values: Mapping[str, float | None]
    """The values by name; None if the run has too little data."""
    failures: tuple[str, ...] = ()
    """A sentence for each quantity whose function raised an error."""


def names_of_extensions() -> list[str]:
    """Return the names of the quantities that extensions added."""
    return [name for name in QUANTITIES if QUANTITIES.owner(name) is not None]


def measured(run: Run) -> Measurements:
    """Return the quantities of extensions in a run, which has all its traces. An error of a function is a failure."""
    values: dict[str, float | None] = {}
    failures = []
    for name in names_of_extensions():
        values[name] = None
        try:
            value = QUANTITIES[name].measure(run)
        except NotMeasured:
            continue
        except (Exception, SystemExit) as error:  # the function is a user's
            failures.append(f"Quantity {name} failed: {described(error)}.")
            continue
        if math.isfinite(value):
            values[name] = value
        else:
            failures.append(f"Quantity {name} is {value}.")
    return Measurements(values, tuple(failures))


def measured_in(folders: Iterable[Path]) -> list[Measurements]:
    """Return the quantities of extensions in the runs of some folders; no quantities without such an extension.

    Raises ResultError if the result of a run cannot be read.
    """
    if not names_of_extensions():
        return [Measurements({}) for _ in folders]
    from sfc_testbed.analysis.results.stored import load_run

    return [measured(load_run(folder)) for folder in folders]


def with_unit(name: str) -> str:
    """Return a quantity's name with its unit, if the extension that has the quantity is loaded."""
    unit = QUANTITIES[name].unit if name in QUANTITIES else ""
    return f"{name} ({unit})" if unit else name


def quantity_of(quantity: Quantity | str) -> Quantity:
    """Return a quantity, or the one with this name. UsageError if there is none."""
    if isinstance(quantity, Quantity):
        return quantity
    if quantity not in QUANTITIES:
        known = f"choose from {', '.join(QUANTITIES)}{nearest(quantity, QUANTITIES)}"
        raise UsageError(f"no quantity {shown(quantity)}; {known}")
    return QUANTITIES[quantity]
