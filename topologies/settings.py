# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a scheme asks of every switch, model units. Becomes table entries in `topologies.commands`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from wire.constants import CLASS_DATA

Bytes = Annotated[int, Field(ge=0, le=0xFFFF_FFFF)]


class SwitchSettings(BaseModel):
    """Data-plane settings. Defaults are the paper's (section 5.1): BDP 125 KB, 32 MB buffer, alpha 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    buffer_bytes: Annotated[int, Field(ge=1_000, le=0xFFFF_FFFF)] | None = Field(
        32_000_000, description="B, the shared buffer of a switch; null for one that never fills."
    )
    alpha: float = Field(
        1.0,
        gt=0,
        le=255,
        description="Dynamic threshold factor: a queue may hold alpha (B - used). 1 lets a lone one take half.",
    )
    bts: Literal["off", "ingress"] = Field("off", description="Where BTS is triggered.")
    q_th_bytes: Bytes = Field(250_000, description="Q_th, the depth above which a BTS is triggered: 2 BDP.")
    q_tg_bytes: Bytes = Field(125_000, description="Q_tg, the depth down to which senders pause: 1 BDP.")
    suppression_ns: Annotated[int, Field(ge=0, le=1_000_000_000)] = Field(
        5_000, description="Period in which a flow gets one BTS, half an RTT; 0 sends a BTS for every packet."
    )
    pause_cache: bool = Field(False, description="Whether switches remember the pauses of destinations.")
    deployment: Literal["tors", "all"] = Field("tors", description="Which switches run SFC.")
    bts_classes: tuple[Annotated[int, Field(ge=0, le=7)], ...] = Field(
        (CLASS_DATA,), description="Traffic classes whose queues are watched."
    )

    @model_validator(mode="after")
    def _target_below_threshold(self) -> SwitchSettings:
        if self.bts != "off" and self.q_tg_bytes >= self.q_th_bytes:
            raise ValueError(f"q_tg_bytes ({self.q_tg_bytes}) must be below q_th_bytes ({self.q_th_bytes})")
        return self
