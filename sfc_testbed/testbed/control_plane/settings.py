# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Switch settings of a scheme, in model units. `testbed.control_plane.commands` turns them into table entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from sfc_testbed.request.checks import StrictModel
from sfc_testbed.wire.constants import CLASS_DATA, MOST_FLOW_QUEUES

CELL_GROUP_BYTES: Final = 8 * 176
"""Eight cells of the prototype's shared buffer, the step in which it compares and reads depths."""
Bytes = Annotated[int, Field(ge=0, le=0xFFFF_FFFF)]


FROM_NETWORK: Mapping[str, float] = {
    "q_th_bdp": 2,
    "q_tg_bdp": 1,
    "suppression_rtt": 0.5,
    "estimator_tau_rtt": 1,
    "header_queue_bdp": 1,
    "bolt_supply_packets": 1,
    "flowlet_gap_rtt": 10,
    "conga_tau_rtt": 16,
    "conga_aging_rtt": 50,
}
"""Settings whose defaults are these multiples of a network's BDP, base RTT or data packet."""


class SwitchSettings(StrictModel):
    """Data-plane settings. Defaults are the paper's (section 5.1): base RTT 10 us, BDP 125 KB, 32 MB buffer, alpha 1.

    A run replaces the defaults in `FROM_NETWORK` by values for its own network. Every setting in bytes may be given in
    BDP (`q_th_bdp`) or in data packets (`trim_queue_packets`), and every setting in ns in base RTTs
    (`suppression_rtt`).
    """

    buffer_bytes: Annotated[int, Field(ge=1_000, le=0xFFFF_FFFF)] | None = Field(
        32_000_000, description="B, the shared buffer of a switch; null: unlimited."
    )
    alpha: float = Field(
        1.0,
        gt=0,
        le=255,
        description="Dynamic threshold factor: a queue may hold alpha (B - used). With 1, one queue can take half.",
    )
    bts: Literal["off", "ingress", "egress"] = Field("off", description="Pipeline stage that triggers a BTS.")
    q_th_bytes: Bytes = Field(250_000, description="Q_th, the depth above which a BTS is triggered: 2 BDP.")
    q_tg_bytes: Bytes = Field(125_000, description="Q_tg, the target depth to which pauses drain a queue: 1 BDP.")
    suppression_ns: Annotated[int, Field(ge=0, le=10_000_000_000)] = Field(
        5_000, description="Period in which a flow gets one BTS, half an RTT; 0 sends a BTS for every packet."
    )
    suppression_timer: Literal["clock", "trigger"] = Field(
        "clock", description="Start of a period: a free-running timer, or the first trigger after the last one."
    )
    suppression_key: Literal["flow", "addresses", "queue-pair"] = Field(
        "flow",
        description="Who gets one BTS per period: a 5-tuple, a pair of hosts and DSCP (prototype), or a queue pair.",
    )
    suppression_filter: Literal["salted", "banks"] = Field(
        "salted",
        description="Three rows with new hashes in each period, or two banks of two rows of bits (prototype).",
    )
    queue_bit: bool = Field(
        False,
        description="Whether ingress knows one bit per queue, over or under Q_th in steps of 1,408 B (prototype).",
    )
    depth_source: Literal["current", "departure"] = Field(
        "current", description="Depth for a pause: the current one, or as the last departure noted it (prototype)."
    )
    pause_method: Literal["exact", "shifts"] = Field(
        "exact", description="Pause of a queue: the time in which it drains, or the prototype's shift for the rate."
    )
    pause_rounding: Literal["down", "up"] = Field(
        "down", description="Rounding of pauses to whole microseconds; rounded down to 0, a pause is not requested."
    )
    pause_cache: bool = Field(False, description="Whether switches cache the pauses of destinations.")
    estimator: bool = Field(False, description="Whether ToRs estimate incast from the traffic of their own servers.")
    estimator_tau_ns: Annotated[int, Field(ge=1, le=10_000_000_000)] = Field(
        10_000, description="Time constant of the estimator; the paper has no value, the testbed uses one RTT."
    )
    estimator_q_th_bytes: Bytes | None = Field(
        None, description="The estimated queue above which a BTS is triggered; null: q_th_bytes."
    )
    estimator_q_tg_bytes: Bytes | None = Field(
        None, description="The target depth for the estimated queue; null: q_tg_bytes."
    )
    sfc_p: bool = Field(False, description="Whether ToRs turn a BTS for one of their servers into an 802.1Qbb frame.")
    sfc_p_quanta: Literal["exact", "shifts"] = Field(
        "exact", description="Pause quanta of SFC-P: exact and continued, or the prototype's factor for the rate."
    )
    pfc: bool = Field(
        False, description="Whether switches pause their neighbours (802.1Qbb) instead of dropping packets."
    )
    pfc_alpha: float = Field(
        0.125, gt=0, le=64, description="Xoff threshold factor of a host port; it grows with the rate of faster ports."
    )
    pfc_reserve_bytes: Bytes = Field(4_096, description="Bytes of each ingress port that do not count towards Xoff.")
    pfc_xon_offset_bytes: Bytes = Field(3_000, description="Distance below Xoff at which a neighbour is resumed.")
    bfc_queues: Annotated[int, Field(ge=1, le=MOST_FLOW_QUEUES)] | None = Field(
        None, description="Queues of each port in which switches pause flows hop by hop (BFC); null: no BFC."
    )
    ecn_kmin_bytes: Bytes | None = Field(None, description="RED marking begins above this depth; null: no marking.")
    ecn_kmax_bytes: Bytes | None = Field(
        None, description="All packets are marked above this depth; null: ecn_kmin_bytes."
    )
    ecn_pmax: float = Field(1.0, gt=0, le=1, description="Marking probability just below ecn_kmax_bytes.")
    ecn_by_rate: bool = Field(
        False,
        description="Whether ECN thresholds grow with the rate of a port, from those of the fastest NIC's rate.",
    )
    trim_queue_bytes: Annotated[int, Field(ge=1_000, le=0xFFFF_FFFF)] | None = Field(
        None, description="Limit of NDP's data queue; packets beyond it are trimmed to headers; null: no trimming."
    )
    header_queue_bytes: Annotated[int, Field(ge=1_000, le=0xFFFF_FFFF)] = Field(
        125_000, description="Limit of NDP's queue of headers, ACKs and pulls if packets are trimmed: 1 BDP."
    )
    load_balancing: Literal["ecmp", "spray", "round-robin", "flowlet", "drill", "adaptive", "conga"] = Field(
        "ecmp", description="How a switch chooses among equal-cost ports: `list` shows what each name means."
    )
    flowlet_gap_ns: Annotated[int, Field(ge=0, le=10_000_000_000)] = Field(
        100_000, description="Gap after which packets of a flow may take another path (flowlet, adaptive, conga)."
    )
    flowlet_cells: Annotated[int, Field(ge=1, le=65_536)] = Field(
        65_536, description="Cells of a switch's flowlet table; flows in the same cell share a path."
    )
    drill_samples: Annotated[int, Field(ge=1, le=2)] = Field(
        2, description="DRILL's d, the random ports that a packet compares."
    )
    drill_memory: Annotated[int, Field(ge=0, le=1)] = Field(
        1, description="DRILL's m, the best ports of the last packet that the next one compares too."
    )
    adaptive_unit: Literal["packet", "flowlet"] = Field(
        "packet", description="What load balancing `adaptive` sends to the least queued port."
    )
    conga_tau_ns: Annotated[int, Field(ge=100, le=10_000_000_000)] = Field(
        160_000, description="CONGA's time constant, over which the load of a link is measured."
    )
    conga_aging_ns: Annotated[int, Field(ge=1_000, le=10_000_000_000)] = Field(
        500_000, description="Period in which a reported load halves in CONGA if it is not renewed."
    )
    int_telemetry: bool = Field(False, description="Whether switches write a record into packets with an INT header.")
    qcn_q_eq_bytes: Annotated[int, Field(ge=1_000, le=100_000_000)] | None = Field(
        None, description="QCN's Q_eq, the target depth of congestion points; null: no QCN."
    )
    qcn_w: Annotated[int, Field(ge=0, le=16)] = Field(2, description="QCN's w, the weight of a queue's growth.")
    qcn_sample_bytes: Annotated[int, Field(ge=1_000, le=100_000_000)] = Field(
        150_000, description="Bytes between QCN's samples of a queue; an eighth of this after the strongest feedback."
    )
    bolt_threshold_bytes: Annotated[int, Field(ge=1_000, le=100_000_000)] | None = Field(
        None, description="Bolt's CC_THRESH, the depth from which switches ask for smaller windows; null: no Bolt."
    )
    bolt_supply_bytes: Annotated[int, Field(ge=64, le=1_000_000)] | None = Field(
        1_058, description="Spare bytes of a link for which Bolt lets a window grow: a data packet; null: it does not."
    )
    bolt_ramp_up: bool = Field(
        True, description="Whether Bolt's switches hand on the bandwidth of flows in their last window."
    )
    deployment: Literal["tors", "all"] = Field("tors", description="Which switches run SFC.")
    bts_classes: tuple[Annotated[int, Field(ge=0, le=7)], ...] = Field(
        (CLASS_DATA,), strict=False, description="Traffic classes whose queues can trigger a BTS."
    )

    @model_validator(mode="after")
    def _target_below_threshold(self) -> SwitchSettings:
        if self.bts != "off" and self.q_tg_bytes >= self.q_th_bytes:
            raise ValueError(f"q_tg_bytes ({self.q_tg_bytes}) must be below q_th_bytes ({self.q_th_bytes})")
        return self

    @model_validator(mode="after")
    def _prototype(self) -> SwitchSettings:
        if self.suppression_filter == "banks" and self.suppression_timer == "trigger":
            raise ValueError("suppression_filter=banks has its own rule for periods; use suppression_timer=clock")
        for name, is_set in (("queue_bit", self.queue_bit), ("depth_source", self.depth_source == "departure")):
            if is_set and self.bts == "egress":
                raise ValueError(f"{name} is for BTS from ingress; use bts=ingress")
        if self.queue_bit and self.q_th_bytes < CELL_GROUP_BYTES:
            raise ValueError(f"queue_bit needs a q_th_bytes of at least {CELL_GROUP_BYTES}, not {self.q_th_bytes}")
        return self

    @model_validator(mode="after")
    def _marking_range(self) -> SwitchSettings:
        if self.ecn_kmax_bytes is not None and self.ecn_kmax_bytes < (self.ecn_kmin_bytes or 0):
            raise ValueError("ecn_kmax_bytes must not be below ecn_kmin_bytes")
        return self

    @model_validator(mode="after")
    def _pfc_with_buffer_and_without_trimming(self) -> SwitchSettings:
        if self.pfc and self.trim_queue_bytes is not None:
            raise ValueError(
                "pfc and trim_queue_bytes exclude each other: pfc prevents full queues, trimming needs them"
            )
        if self.pfc and self.buffer_bytes is None:
            raise ValueError("pfc needs buffer_bytes: its thresholds are fractions of the buffer")
        return self

    @model_validator(mode="after")
    def _bfc_alone(self) -> SwitchSettings:
        others = [name for name in ("pfc", "sfc_p") if getattr(self, name)]
        others += ["trim_queue_bytes"] * (self.trim_queue_bytes is not None)
        if self.bfc_queues is not None and others:
            raise ValueError(
                f"bfc_queues and {others[0]} exclude each other: a packet has one queue and one pause frame"
            )
        return self

    @property
    def changes_paths(self) -> bool:
        """Whether packets of a flow may take different paths."""
        return self.load_balancing != "ecmp"

    @property
    def reorders(self) -> bool:
        """Whether packets that a flow sends back to back may take different paths and overtake one another.

        Flowlets are further apart than the difference of the paths, unless their gap is set to 0.
        """
        has_flowlets = self.load_balancing in ("flowlet", "conga")
        has_flowlets |= self.load_balancing == "adaptive" and self.adaptive_unit == "flowlet"
        return self.changes_paths and (not has_flowlets or self.flowlet_gap_ns == 0)

    @property
    def makes_bts(self) -> bool:
        """Whether switches send BTS packets: to pause flows, with QCN's feedback, or for Bolt."""
        return self.bts != "off" or self.qcn_q_eq_bytes is not None or self.bolt_threshold_bytes is not None
