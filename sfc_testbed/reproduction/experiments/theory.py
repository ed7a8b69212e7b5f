# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Appendix C: compares the formulas for the buffer that a congestion needs with runs, over delays and thresholds.

Each case ends right after the first peak. The formulas describe the first notification only; what happens after senders
resume depends on congestion control.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
import polars as pl

from sfc_testbed.analysis.formatting import format_bytes
from sfc_testbed.analysis.results.result import counted
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.reproduction.model.bounds import (
    Bottleneck,
    b_ack,
    b_ack_with_acknowledgement,
    b_bts,
    b_cache_hit,
    b_cache_miss,
    b_cache_miss_in_packets,
    b_incast,
    b_incast_in_packets,
    cache_miss_ns,
)
from sfc_testbed.reproduction.model.claims import Judged
from sfc_testbed.reproduction.model.experiment import (
    GO_BACK_N,
    Axis,
    Evidence,
    Experiment,
    Grid,
    Grids,
    Measured,
    NotMeasured,
    Results,
)
from sfc_testbed.scenarios.paper.theory import LATE, PAYLOAD_BYTES, SCENARIO
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.wire.roce.packets import ACK_FRAME_BYTES, data_frame_bytes

_RATE_BPS = 100_000_000_000
_TRUNK_BPS = 12_800_000_000_000
_FRAME_BYTES = data_frame_bytes(PAYLOAD_BYTES, is_last=False)
_STEADY_NS = 40_000.0
"""The shortest time for which sender 0 transmits alone: four times the longest one-way delay."""
_IDEAL_PAUSE_NS = 10_000_000
"""The pause of a sender after the first notification, longer than any case."""
_INTERVAL_NS = 10_000
"""The sampling interval of the buffers. A run must end with an interval, since the rest of it would not be sampled."""
_POINT_SWITCH = {"topology.bts_latency_ns": 0, "switch.pause_rounding": "up"}
"""The settings of an ideal switch, as the formulas assume: no time to build a BTS, and no pause that is too short.

The formulas describe the first notification only. Rounded down, pauses of less than a microsecond would not exist."""
_CASE = "case"
_ACK, _BTS, _CACHE = "onramp-straw-man+none", "ingress-bts+none", "sfc+none"


def _path(trunk_ns: int, host_ns: int, packets: int) -> Bottleneck:
    """Return the symbols for a dumbbell: T_A is a host link and the trunk, T_B and T_ToR are a host link each."""
    return Bottleneck(_RATE_BPS, trunk_ns + host_ns, host_ns, host_ns, _FRAME_BYTES, packets)


def _network(path: Bottleneck, senders: int) -> dict[str, Any]:
    """Return the network's settings: a star if the sender's ToR is the congested switch, otherwise a dumbbell."""
    trunk_ns = round(path.sender_delay_ns - path.tor_delay_ns)
    host_ns = round(path.tor_delay_ns)
    if not trunk_ns:
        star = {"topology": "star", "topology.hosts": senders + 1, "topology.host_delay_ns": host_ns}
        return {**star, **_POINT_SWITCH}
    return {
        **_POINT_SWITCH,
        "topology.left_hosts": senders,
        "topology.trunk_rate_bps": _TRUNK_BPS,
        "topology.trunk_delay_ns": trunk_ns,
        "topology.host_delay_ns": host_ns,
    }


def _settings(
    path: Bottleneck, joiners: int, signal_ns: float, late_ns: float | None = None, *, before: int
) -> dict[str, Any]:
    """Return the case's network, thresholds and duration, which ends shortly after the first notification takes effect.

    A packet that finds `before` other packets in the queue triggers a notification. The joining time is chosen so that
    the run ends together with a sampling interval. With `late_ns`, one more sender joins that long after the others.
    """
    lasts_ns = (late_ns or 0.0) + signal_ns + path.sender_delay_ns + 3 * path.packet_ns
    end_ns = _INTERVAL_NS * ceil((_STEADY_NS + lasts_ns) / _INTERVAL_NS)
    join_ns = end_ns - lasts_ns
    settings: dict[str, Any] = {
        "joiners": joiners,
        "join_us": join_ns / 1000,
        **_network(path, 1 + joiners + (late_ns is not None)),
        "switch.q_th_bytes": before * path.packet_bytes - 1,
        "switch.q_tg_bytes": 0,
        **GO_BACK_N,
        "duration_ms": (end_ns + 1) / 1e6,
    }
    if late_ns is not None:
        settings["late_us"] = (join_ns + late_ns) / 1000
    return settings


def _two_flow_cases() -> Iterator[tuple[str, Bottleneck]]:
    for trunk_ns, host_ns, packets in ((3_000, 1_000, 26), (3_000, 1_000, 104), (500, 500, 26), (6_000, 2_000, 52)):
        path = _path(trunk_ns, host_ns, packets)
        yield f"T_A {path.sender_delay_ns / 1000:g} us, T_B {host_ns / 1000:g} us, k {packets}", path


def _incast_cases() -> Iterator[tuple[str, Bottleneck, int]]:
    """Yield the incast cases. On a star, simultaneous packets first meet in the congested queue; T_A = T_B = T_ToR."""
    for delay_ns, packets, senders in ((4_000, 1, 4), (4_000, 4, 16), (2_000, 8, 24)):
        path = Bottleneck(_RATE_BPS, delay_ns, delay_ns, delay_ns, _FRAME_BYTES, packets)
        yield f"T_A {delay_ns / 1000:g} us, N {senders}, k {packets}", path, senders


def _cache_cases() -> Iterator[tuple[str, Bottleneck]]:
    for trunk_ns, host_ns in ((3_000, 1_000), (6_000, 500), (1_000, 2_000)):
        path = _path(trunk_ns, host_ns, 1)
        yield f"T_A {path.sender_delay_ns / 1000:g} us, T_ToR {host_ns / 1000:g} us", path


def _ack_settings(path: Bottleneck) -> dict[str, Any]:
    empty_path_ns = path.sender_delay_ns + path.receiver_delay_ns + 2 * path.packet_ns
    # The k-th packet of the joiner waits for k - 1 of its own packets and for the rest of the packet that is leaving.
    threshold_ns = round(empty_path_ns + (path.threshold_packets - 1) * path.packet_ns)
    signal_ns = b_ack(path) * 8e9 / path.rate_bps
    parameters = {"threshold_ns": threshold_ns, "shortest_pause_ns": _IDEAL_PAUSE_NS}
    return {
        **_settings(path, 1, signal_ns, before=path.threshold_packets),
        "transport.flow_control_parameters": parameters,
    }


def _late_ns(path: Bottleneck) -> float:
    """Return a delay after the first joiner at which senders hit the cache while the congestion lasts."""
    return cache_miss_ns(path) + 2 * path.tor_delay_ns + 2 * path.packet_ns


def _early_ns(path: Bottleneck) -> float:
    """Return the middle of the time, after the first joiner, in which senders still miss the cache."""
    return cache_miss_ns(path) / 2


_TWO_FLOW = {f"B_bts: {name}": path for name, path in _two_flow_cases()}
_TWO_FLOW_ACK = {f"B_ack: {name}": path for name, path in _two_flow_cases()}
_INCAST = {f"B_incast: {name}": (path, senders) for name, path, senders in _incast_cases()}
_CACHED = {f"B_cache-hit: {name}": path for name, path in _cache_cases()}
_MISSED = {f"B_cache-miss: {name}": path for name, path in _cache_cases()}


def _grids() -> Grids:
    bts = {
        name: _settings(path, 1, b_bts(path) * 8e9 / path.rate_bps, before=path.threshold_packets - 1)
        for name, path in _TWO_FLOW.items()
    }
    incast = {
        name: _settings(path, senders, 2 * path.sender_delay_ns + path.packet_ns, before=path.threshold_packets)
        for name, (path, senders) in _INCAST.items()
    }
    ack = {name: _ack_settings(path) for name, path in _TWO_FLOW_ACK.items()}
    cached = {
        name: _settings(path, 1, 2 * path.sender_delay_ns + path.packet_ns, joins_ns(path), before=1)
        for cases, joins_ns in ((_MISSED, _early_ns), (_CACHED, _late_ns))
        for name, path in cases.items()
    }
    return Grids(
        (
            Grid((_ACK,), (Axis(_CASE, ack),)),
            Grid((_BTS,), (Axis(_CASE, {**bts, **incast}),)),
            Grid((_CACHE,), (Axis(_CASE, cached),)),
        )
    )


def _peak(run: Run) -> float:
    return float(counted(run.result.max_buffer_bytes))


def _emitted(run: Run) -> float:
    """Return how many bytes the late sender emitted before its first signal arrived."""
    late = run.flows.filter(pl.col("tag") == LATE)
    signals = answer(run.signals.filter(pl.col("flow_id") == late["flow_id"][0]))
    if signals.is_empty():
        raise NotMeasured("the late sender received no signal")
    delay_us = float(signals["received_us"].to_numpy().min()) - float(late["start_us"][0])
    return _RATE_BPS * delay_us / 8e6


def _formula_check(
    scheme: str,
    bounds: Mapping[str, float],
    measure: Callable[[Run], float],
    refined: Mapping[str, float] | None = None,
    reason: str = "",
) -> Callable[[Results], Measured]:
    """Return a check of all cases of one formula: every measurement must lie within one packet of its bound.

    If the formula leaves an effect out, `refined` are the bounds with this effect and `reason` describes it. A case
    then also holds if it lies within one packet of its refined bound. The finding's text gives both differences.
    """

    def judge(results: Results) -> Measured:
        amounts = [measure(results.at(scheme, {_CASE: name})) for name in bounds]
        differences = _packets(amounts, bounds)
        worst = int(np.argmax(np.abs(differences)))
        name, bound = list(bounds.items())[worst]
        text = f"{min(differences):+.2f} to {max(differences):+.2f} packets from the formula"
        values = f"{format_bytes(amounts[worst])} vs. {format_bytes(bound)}"
        evidence = Evidence(values, "", f"worst of {len(amounts)} cases", name)
        is_near = [abs(difference) <= 1 for difference in differences]
        if refined is not None and not all(is_near):
            remaining = _packets(amounts, refined)
            is_near = [near or abs(difference) <= 1 for near, difference in zip(is_near, remaining, strict=True)]
            text += f"; {reason}: {min(remaining):+.2f} to {max(remaining):+.2f}"
        return Measured(differences[worst], all(is_near), text, evidence=evidence)

    return judge


def _packets(amounts: Sequence[float], bounds: Mapping[str, float]) -> list[float]:
    """Return by how many packets each amount, in bytes, exceeds its bound."""
    return [(amount - bound) / _FRAME_BYTES for amount, bound in zip(amounts, bounds.values(), strict=True)]


_WITH_ACKNOWLEDGEMENT = "with the serialization of acknowledgements"
_IN_PACKETS = "in whole packets, where the first k trigger no notification"

EXPERIMENT = Experiment(
    title="Theory: buffer bounds",
    paper="Appendix C",
    shows="Appendix C has formulas for the buffer that congestion needs if senders are notified by acknowledgements "
    "(B_ack), by BTS from the congested switch (B_bts), in a synchronized incast (B_incast), and by the cache of "
    "their ToR. R is the rate of a link, N the number of senders, T_S the time to serialize a packet, and k the "
    "queue in packets that triggers a notification. T_A, T_B and T_ToR are the delays from a sender to the congested "
    "switch, from there to the receiver, and from a sender to its ToR. The first sender stops at T_F, and the next "
    "one starts at T_Sender#2.",
    scenario=SCENARIO,
    grids={"ci": _grids(), "laptop": _grids(), "paper": _grids()},
    claims=(
        Judged(
            "Two flows that are notified by acknowledgements need a buffer of B_ack",
            "R (2 T_A + 2 k T_S + 2 T_B)",
            _formula_check(
                _ACK,
                {name: b_ack(path) for name, path in _TWO_FLOW_ACK.items()},
                _peak,
                {name: b_ack_with_acknowledgement(path, ACK_FRAME_BYTES) for name, path in _TWO_FLOW_ACK.items()},
                _WITH_ACKNOWLEDGEMENT,
            ),
            is_ours=True,
        ),
        Judged(
            "Two flows that are notified by BTS need a buffer of B_bts",
            "R (2 T_A + k T_S)",
            _formula_check(_BTS, {name: b_bts(path) for name, path in _TWO_FLOW.items()}, _peak),
            is_ours=True,
        ),
        Judged(
            "N synchronized flows need a buffer of B_incast",
            "N R (2 T_A + T_S)",
            _formula_check(
                _BTS,
                {name: b_incast(path, senders) for name, (path, senders) in _INCAST.items()},
                _peak,
                {name: b_incast_in_packets(path, senders) for name, (path, senders) in _INCAST.items()},
                _IN_PACKETS,
            ),
            is_ours=True,
        ),
        Judged(
            "A sender that hits the pause cache emits B_cache-hit before it stops",
            "R (2 T_ToR + T_S)",
            _formula_check(_CACHE, {name: b_cache_hit(path) for name, path in _CACHED.items()}, _emitted),
            is_ours=True,
        ),
        Judged(
            "A sender that misses the pause cache stops at the same time as the first sender",
            "R (T_F - T_Sender#2)",
            _formula_check(
                _CACHE,
                {name: b_cache_miss(path, _early_ns(path)) for name, path in _MISSED.items()},
                _emitted,
                {name: b_cache_miss_in_packets(path, _early_ns(path)) for name, path in _MISSED.items()},
                _IN_PACKETS,
            ),
            is_ours=True,
        ),
    ),
    notes=(
        "The paper does not measure these bounds, so all claims are ours.",
        f"A packet is {_FRAME_BYTES} B on the wire.",
        "A claim holds if every case is within one packet of the formula. If the column *measured* names an effect "
        "that the formula leaves out, being within one packet of the formula with this effect is enough.",
        "The formulas assume an ideal pause. Suppression is therefore off, so that every packet renews the pause. A "
        "notification by acknowledgement stops a sender until the end of the run. Only flow control limits a sender.",
    ),
)
