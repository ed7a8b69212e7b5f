# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""docs/stored/reproduction-remarks.yaml: why claims do not hold, each reason with the runs that tested it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

REMARKS = Path(__file__).resolve().parents[1] / "docs" / "stored" / "reproduction-remarks.yaml"


class Remark(BaseModel):
    """A reason, and what became of it when it was tested."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: str
    found: str
    """What the runs showed, whether they bear the reason out or not."""
    runs: tuple[str, ...] = Field(min_length=1)
    """As typed behind `./runner.py`."""


Remarks = Mapping[str, Mapping[str, Remark]]
"""By experiment and by claim, in its own words."""

_FORM: TypeAdapter[Remarks] = TypeAdapter(Remarks)


def read_remarks() -> Remarks:
    """Those that are stored."""
    return _FORM.validate_python(yaml.safe_load(REMARKS.read_text(encoding="utf-8")))
