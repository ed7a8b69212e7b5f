# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What figures are made of: models whose floats are already as they stand in result.json.

A metric gives such a model, and result.json, reports and plots take that very one, so that a figure is written down in
one place only.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

_SIGNIFICANT_DIGITS = 9


def _rounded(value: float) -> float:
    return float(f"{value:.{_SIGNIFICANT_DIGITS}g}") + 0.0


Figure = Annotated[float, AfterValidator(_rounded)]
"""A float as it stands in result.json: without the noise of the last bits, and never -0."""

Interval = tuple[Figure, Figure]


class Figures(BaseModel):
    """Figures that belong together; None: the sample cannot carry the figure, or nobody measured it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
