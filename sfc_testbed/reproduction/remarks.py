# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""docs/stored/reproduction-remarks.yaml: what follows from each experiment, and the reasons why claims do not hold."""

from __future__ import annotations

from collections.abc import Mapping

import yaml
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from sfc_testbed.place import STORED

REMARKS = STORED / "reproduction-remarks.yaml"


class Reason(BaseModel):
    """A reason why claims do not hold, and its test."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    claims: tuple[str, ...] = Field(min_length=1)
    """The texts of the claims."""
    cause: str
    test: str
    """The result of the runs, whether they confirm the cause or refute it."""
    runs: tuple[str, ...] = Field(min_length=1)
    """The runs that tested the cause, as typed after `./runner.py`."""


class Answer(BaseModel):
    """The answer to a question about an experiment, from the figures of its page."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str
    answer: str


class Remarks(BaseModel):
    """The remarks about an experiment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    follows: str = ""
    """The conclusion from the experiment, in one sentence."""
    answers: tuple[Answer, ...] = ()
    reasons: tuple[Reason, ...] = ()


def read_remarks() -> Mapping[str, Remarks]:
    """Read the remarks by the name of the experiment."""
    form = TypeAdapter(dict[str, Remarks])
    return form.validate_python(yaml.safe_load(REMARKS.read_text(encoding="utf-8")))
