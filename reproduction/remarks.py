# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""docs/stored/reproduction-remarks.yaml: the reasons why claims do not hold, with the runs that tested each reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

REMARKS = Path(__file__).resolve().parents[1] / "docs" / "stored" / "reproduction-remarks.yaml"


class Remark(BaseModel):
    """A reason why a claim does not hold, and the test of this reason."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: str
    found: str
    """The result of the runs, whether they confirm the reason or refute it."""
    runs: tuple[str, ...] = Field(min_length=1)
    """The runs that tested the reason, as typed after `./runner.py`."""


Remarks = Mapping[str, Mapping[str, Remark]]
"""Remarks by experiment and by the text of the claim."""

_FORM: TypeAdapter[Remarks] = TypeAdapter(Remarks)


def read_remarks() -> Remarks:
    """Read the stored remarks."""
    return _FORM.validate_python(yaml.safe_load(REMARKS.read_text(encoding="utf-8")))
