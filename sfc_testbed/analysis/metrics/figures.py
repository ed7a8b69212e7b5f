# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The base class of figures: models whose floats are rounded as in result.json.

Metrics return such models, and result.json, reports and plots use the same objects. So each figure is defined once.
"""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

_SIGNIFICANT_DIGITS = 9


def rounded(value: float) -> float:
    """Return the value as in result.json: with nine significant digits, and 0 instead of -0."""
    return float(f"{value:.{_SIGNIFICANT_DIGITS}g}") + 0.0


Figure = Annotated[float, AfterValidator(rounded)]
"""A float as in result.json: rounded to nine significant digits, and never -0."""

Interval = tuple[Figure, Figure]


class Figures(BaseModel):
    """A group of figures. None: too few samples for the figure, or not measured.

    Figures that a newer release added to a stored file are ignored.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False, defer_build=True)

    def to_json(self) -> str:
        """Return the figures as the text of a JSON file, with a newline at the end."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False) + "\n"
