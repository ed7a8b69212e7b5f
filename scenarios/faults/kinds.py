# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of fault kinds. A class is a kind and its fields are its parameters; a new kind needs a class and a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field, model_validator

from sfc_testbed.scenarios.faults.fault import Duration, Fault, LinkedFault, Span
from sfc_testbed.scenarios.faults.impairments import IMPAIRMENTS
from sfc_testbed.scenarios.faults.nodes import Stall, SwitchRestart


class LinkDown(LinkedFault):
    """A link that is cut at both ends: frames that are sent on it or are in flight on it are lost.

    Switches route around it `detect` after it went down, and over it again `detect` after it came back. The default is
    the testbed's choice. It is long enough to show the losses before rerouting, and short enough that a run of a
    millisecond shows the network afterwards. In practice, a switch detects loss of light on its own port within
    microseconds; a control plane takes milliseconds to recompute routes. Set `detect` for the case you study.
    """

    kind: ClassVar[str] = "link"
    summary: ClassVar[str] = "a link goes down and optionally up again; switches route around it"
    usage: ClassVar[str] = "link:A-B,down=TIME[,up=TIME][,detect=TIME]"

    down_ns: Duration = Field(alias="down", ge=0)
    up_ns: Duration | None = Field(None, alias="up")
    detect_ns: Duration = Field(50_000, alias="detect", ge=0)

    @model_validator(mode="after")
    def _up_after_down(self) -> LinkDown:
        if self.up_ns is not None and self.up_ns <= self.down_ns:
            raise ValueError("up must come after down")
        return self

    def spans(self) -> Sequence[Span]:
        return (Span(f"{self.place} down", self.down_ns, self.up_ns),)


_KINDS: tuple[type[Fault], ...] = (LinkDown, SwitchRestart, Stall, *IMPAIRMENTS)
FAULTS: Mapping[str, type[Fault]] = {kind.kind: kind for kind in _KINDS}
