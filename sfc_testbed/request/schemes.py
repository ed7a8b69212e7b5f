# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Schemes: named sets of switch and host settings. A `+name` suffix selects the congestion control.

A scheme only overrides defaults of `SwitchSettings` and `TransportSettings`. A new scheme needs one row in the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.shown import nearest
from sfc_testbed.request.table import Table


@dataclass(frozen=True)
class Scheme:
    """The settings of a scheme on switches and hosts."""

    name: str
    summary: str
    switch: Mapping[str, Any] = field(default_factory=dict)
    transport: Mapping[str, Any] = field(default_factory=dict)
    congestion: str = "window"
    """The congestion control that applies without a suffix."""


@dataclass(frozen=True)
class RateControl:
    """The settings that a `+name` suffix adds to a scheme."""

    name: str
    summary: str
    transport: Mapping[str, Any]
    switch: Mapping[str, Any] = field(default_factory=dict)
    replaces_irn_cap: bool = True
    """Whether this congestion control replaces IRN's cap of one BDP by its own window or by no window."""


_IRN: Mapping[str, Any] = {"loss_recovery": "irn", "loss_recovery_parameters": {}}
_GBN = {"loss_recovery": "go-back-n"}
_SFC = {"flow_control": "sfc", **_IRN}
# ACKs use the control class with every congestion control: NDP switches would trim ACKs among the data.
_NDP = {"loss_recovery": "ndp", "ack_priority": "control"}
# The data queue length of the NDP paper (section 3.1), in packets of the run's size.
_EIGHT_PACKETS = {"trim_queue_packets": 8}
_INGRESS_AND_CACHE = {"bts": "ingress", "pause_cache": True}
# docs/decisions/0013-the-prototypes-program.md
_PROTOTYPE: Mapping[str, Any] = {
    "bts": "ingress",
    "queue_bit": True,
    "suppression_key": "addresses",
    "suppression_filter": "banks",
    "depth_source": "departure",
    "pause_method": "shifts",
    "sfc_p_quanta": "shifts",
}

_SCHEMES = (
    Scheme("gbn", "no flow control, go-back-N: plain RoCEv2", transport=_GBN),
    Scheme("irn", "no flow control, selective retransmission", transport=_IRN),
    Scheme("pfc", "switches and NICs pause the class hop by hop", {"pfc": True}, {"flow_control": "pfc", **_GBN}),
    Scheme(
        "bfc",
        "BFC: switches pause single flows hop by hop, in queues of their own",
        {"bfc_queues": 32},
        {"flow_control": "bfc", "ack_priority": "control", **_GBN},
        congestion="none",
    ),
    Scheme("onramp", "OnRamp-style, reconstructed: hold by one-way delay", {}, {"flow_control": "onramp", **_IRN}),
    Scheme(
        "onramp-straw-man",
        "OnRamp's straw-man, reconstructed: no allowance for delay or other flows",
        transport={"flow_control": "onramp-straw-man", **_IRN},
    ),
    Scheme("egress-bts", "BTS after a packet has left the congested queue", {"bts": "egress"}, _SFC),
    Scheme("ingress-bts", "BTS from the congested switch's ingress, no cache", {"bts": "ingress"}, _SFC),
    Scheme("sfc", "ingress BTS and the pause cache at the ToRs", _INGRESS_AND_CACHE, _SFC),
    Scheme("sfc-est", "SFC and the incast estimator", {**_INGRESS_AND_CACHE, "estimator": True}, _SFC),
    Scheme(
        "sfc-p",
        "SFC whose ToRs turn a BTS into an 802.1Qbb pause of the sender's port",
        {**_INGRESS_AND_CACHE, "sfc_p": True},
        {"flow_control": "pfc", **_IRN},
    ),
    Scheme(
        "sfc-prototype",
        "SFC as in the public switch program of the paper's prototype: no pause cache, coarser numbers",
        _PROTOTYPE,
        _SFC,
    ),
    Scheme(
        "sfc-prototype-p",
        "SFC-P as in the public switch program of the paper's prototype",
        {**_PROTOTYPE, "sfc_p": True},
        {"flow_control": "pfc", **_IRN},
    ),
    Scheme(
        "ndp",
        "NDP: switches cut packets to headers, receivers pull the data",
        {**_EIGHT_PACKETS, "load_balancing": "spray"},
        _NDP,
        congestion="none",
    ),
)
SCHEMES = Table("scheme", ((scheme.name, scheme) for scheme in _SCHEMES))

# Switches of the HPCC simulator queue ACKs with the data, in every preset.
_ACKS_WITH_DATA = {"ack_priority": "data"}
_HPCC = {"congestion": "hpcc", **_ACKS_WITH_DATA}

# ECN marking for DCQCN: a step at 1 BDP (section 5.1 of the SFC paper).
_MARKING = {"ecn_kmin_bdp": 1, "ecn_kmax_bdp": 1, "ecn_pmax": 1.0}

# ECN marking for DCTCP: the HPCC simulator's step at 300 KB, for 100 Gb/s and an RTT of 10 us (docs/sources.md#dctcp).
_DCTCP_MARKING = {"ecn_kmin_bdp": 2.4, "ecn_kmax_bdp": 2.4, "ecn_pmax": 1.0}

# The set point of IEEE 802.1Qau (docs/sources.md#qcn).
_QCN = {"qcn_q_eq_bytes": 26_000}

_RATE_CONTROLS = (
    RateControl("none", "none: line rate", {"congestion": "none"}, replaces_irn_cap=False),
    RateControl("window", "a static window of one BDP", {"congestion": "window"}),
    RateControl(
        "dcqcn",
        "DCQCN with a static window of one BDP (+W)",
        {"congestion": "dcqcn", **_ACKS_WITH_DATA},
        _MARKING,
    ),
    RateControl(
        "dcqcn-no-window",
        "DCQCN without a window",
        {"congestion": "dcqcn", "congestion_parameters": {"window_bytes": 0}, **_ACKS_WITH_DATA},
        _MARKING,
    ),
    RateControl("hpcc", "HPCC, with telemetry from the switches", _HPCC, {"int_telemetry": True}),
    RateControl("qcn", "QCN: switches sample queues and send back how far to cut", {"congestion": "qcn"}, _QCN),
    RateControl(
        "dctcp",
        "DCTCP: cut by the fraction of marked packets",
        {"congestion": "dctcp", **_ACKS_WITH_DATA},
        _DCTCP_MARKING,
    ),
    RateControl("timely", "TIMELY: rate by the RTT's slope", {"congestion": "timely", **_ACKS_WITH_DATA}),
    RateControl("swift", "Swift: a window for an RTT target", {"congestion": "swift", **_ACKS_WITH_DATA}),
    RateControl(
        "powertcp",
        "PowerTCP: rate by queue and arrivals in telemetry",
        {"congestion": "powertcp", **_ACKS_WITH_DATA},
        {"int_telemetry": True},
    ),
    RateControl(
        "theta-powertcp",
        "theta-PowerTCP: rate by RTT and slope",
        {"congestion": "theta-powertcp", **_ACKS_WITH_DATA},
    ),
    RateControl(
        "bolt",
        "Bolt: switches ask senders for less, and grant more",
        {"congestion": "bolt"},
        {"bolt_threshold_packets": 2},
    ),
)
RATE_CONTROLS = Table("congestion control", ((control.name, control) for control in _RATE_CONTROLS))


def resolve_scheme(text: str) -> Scheme:
    """Return the scheme for a name such as `sfc` or `sfc+none`, with its congestion control settings applied.

    Raise UsageError for an unknown scheme or congestion control.
    """
    base, plus, suffix = text.partition("+")
    if base in RATE_CONTROLS and base not in SCHEMES:
        raise UsageError(f"{base!r} is a congestion control, not a scheme: write it after one, such as irn+{base}")
    if base not in SCHEMES:
        raise UsageError(f"unknown scheme {base!r}; choose from {', '.join(SCHEMES)}{nearest(base, SCHEMES)}")
    if plus and suffix not in RATE_CONTROLS:
        known = ", ".join(f"+{name}" for name in RATE_CONTROLS)
        raise UsageError(f"unknown congestion control {suffix!r}; choose from {known}{nearest(suffix, RATE_CONTROLS)}")
    control = RATE_CONTROLS[suffix or SCHEMES[base].congestion]
    scheme = SCHEMES[base]
    switch = {**scheme.switch, **control.switch}
    transport = {**control.transport, **scheme.transport}
    if control.replaces_irn_cap and transport["loss_recovery"] == "irn":
        transport["loss_recovery_parameters"] = {**transport["loss_recovery_parameters"], "cap_packets": 0}
    return Scheme(text, scheme.summary, switch, transport)
