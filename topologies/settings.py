# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a scheme asks of every switch, model units. Becomes table entries in `topologies.commands`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, Field, model_validator

from wire.constants import CLASS_DATA
from wire.input.validation import STRICT

Bytes = Annotated[int, Field(ge=0, le=0xFFFF_FFFF)]


FROM_NETWORK: Mapping[str, float] = {
    "q_th_bdp": 2,
    "q_tg_bdp": 1,
    "suppression_rtt": 0.5,
    "estimator_tau_rtt": 1,
    "header_queue_bdp": 1,
}
"""What follows from a network's BDP and base RTT unless somebody sets it."""


class SwitchSettings(BaseModel):
    """Data-plane settings. Defaults are the paper's (section 5.1): base RTT 10 us, BDP 125 KB, 32 MB buffer, alpha 1.

    A run takes `FROM_NETWORK` of its own network instead. Every setting in bytes may be given in BDP (`q_th_bdp`) or in
    data packets (`trim_queue_packets`), and every one in ns in base RTTs (`suppression_rtt`).
    """

    model_config = STRICT

    buffer_bytes: Annotated[int, Field(ge=1_000, le=0xFFFF_FFFF)] | None = Field(
        32_000_000, description="B, the shared buffer of a switch; null for one that never fills."
    )
    alpha: float = Field(
        1.0,
        gt=0,
        le=255,
        description="Dynamic threshold factor: a queue may hold alpha (B - used). 1 lets a lone one take half.",
    )
    bts: Literal["off", "ingress", "egress"] = Field("off", description="Where BTS is triggered.")
    q_th_bytes: Bytes = Field(250_000, description="Q_th, the depth above which a BTS is triggered: 2 BDP.")
    q_tg_bytes: Bytes = Field(125_000, description="Q_tg, the depth down to which senders pause: 1 BDP.")
    suppression_ns: Annotated[int, Field(ge=0, le=10_000_000_000)] = Field(
        5_000, description="Period in which a flow gets one BTS, half an RTT; 0 sends a BTS for every packet."
    )
    suppression_timer: Literal["clock", "trigger"] = Field(
        "clock", description="What begins a period: a timer that runs freely, or the first trigger after the last one."
    )
    pause_grain_ns: Annotated[int, Field(ge=0, le=1_000_000_000)] = Field(
        1_000, description="Pauses are rounded down to a multiple of it; 0: as fine as the data plane's clock."
    )
    pause_cache: bool = Field(False, description="Whether switches remember the pauses of destinations.")
    estimator: bool = Field(False, description="Whether ToRs estimate incast from what their own servers send.")
    estimator_tau_ns: Annotated[int, Field(ge=1, le=10_000_000_000)] = Field(
        10_000, description="Time constant of the estimator; the paper gives none, one RTT is ours."
    )
    estimator_q_th_bytes: Bytes | None = Field(
        None, description="The estimated queue above which a BTS is triggered; null: q_th_bytes."
    )
    estimator_q_tg_bytes: Bytes | None = Field(
        None, description="The estimated queue down to which senders pause; null: q_tg_bytes."
    )
    sfc_p: bool = Field(False, description="Whether ToRs turn a BTS for one of their servers into an 802.1Qbb frame.")
    pfc: bool = Field(False, description="Whether switches pause their neighbours (802.1Qbb) rather than drop.")
    pfc_alpha: float = Field(
        0.125, gt=0, le=64, description="Xoff threshold factor of a host port; a faster port's grows with its rate."
    )
    pfc_xon_offset_bytes: Bytes = Field(3_000, description="How far below Xoff a neighbour is resumed.")
    ecn_kmin_bytes: Bytes | None = Field(None, description="RED marking begins above this depth; null marks nothing.")
    ecn_kmax_bytes: Bytes | None = Field(None, description="Above this depth all is marked; null: ecn_kmin_bytes.")
    ecn_pmax: float = Field(1.0, gt=0, le=1, description="Marking probability just below ecn_kmax_bytes.")
    trim_queue_bytes: Annotated[int, Field(ge=1_000, le=0xFFFF_FFFF)] | None = Field(
        None, description="NDP's data queue: what would make it longer is cut to its headers; null cuts nothing."
    )
    header_queue_bytes: Annotated[int, Field(ge=1_000, le=0xFFFF_FFFF)] = Field(
        125_000, description="NDP's queue of headers, ACKs and pulls where packets are cut: 1 BDP."
    )
    spraying: bool = Field(False, description="Whether every RoCE packet takes one of the shortest paths by chance.")
    int_telemetry: bool = Field(False, description="Whether switches push a record into packets with an INT header.")
    qcn_q_eq_bytes: Annotated[int, Field(ge=1_000, le=100_000_000)] | None = Field(
        None, description="QCN's Q_eq, the depth that congestion points aim at; null: switches have none."
    )
    qcn_w: Annotated[int, Field(ge=0, le=16)] = Field(2, description="QCN's w, the weight of a queue's growth.")
    qcn_sample_bytes: Annotated[int, Field(ge=1_000, le=100_000_000)] = Field(
        150_000, description="Bytes between QCN's samples of a queue; an eighth of it after the strongest feedback."
    )
    deployment: Literal["tors", "all"] = Field("tors", description="Which switches run SFC.")
    bts_classes: tuple[Annotated[int, Field(ge=0, le=7)], ...] = Field(
        (CLASS_DATA,), strict=False, description="Traffic classes whose queues are watched."
    )

    @model_validator(mode="after")
    def _target_below_threshold(self) -> SwitchSettings:
        if self.bts != "off" and self.q_tg_bytes >= self.q_th_bytes:
            raise ValueError(f"q_tg_bytes ({self.q_tg_bytes}) must be below q_th_bytes ({self.q_th_bytes})")
        return self

    @model_validator(mode="after")
    def _marking_range(self) -> SwitchSettings:
        if self.ecn_kmax_bytes is not None and self.ecn_kmax_bytes < (self.ecn_kmin_bytes or 0):
            raise ValueError("ecn_kmax_bytes must not be below ecn_kmin_bytes")
        if self.pfc and self.trim_queue_bytes is not None:
            raise ValueError("pfc pauses before a queue is full, trim_queue_bytes cuts then; choose one of them")
        if self.pfc and self.buffer_bytes is None:
            raise ValueError("pfc needs a buffer_bytes: its thresholds are shares of the buffer")
        return self

    @property
    def makes_bts(self) -> bool:
        """Whether some switch sends BTS: to pause flows, or with QCN's feedback."""
        return self.bts != "off" or self.qcn_q_eq_bytes is not None
