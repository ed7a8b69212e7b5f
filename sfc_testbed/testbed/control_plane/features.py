# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Table entries that enable the mechanisms of a switch: BTS, cache, estimator, SFC-P, PFC, BFC, ECN, INT, QCN,
trimming and load balancing.

Each mechanism has a function that yields nothing if the settings leave the mechanism off. P4 cannot divide, so ratios
become fixed-point factors here, computed from wall rates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sfc_testbed.testbed.control_plane.entries import Command, FlowQueues, MirrorSession, TableEntry
from sfc_testbed.testbed.control_plane.fixed_point import (
    LARGEST_WORD,
    WORD_BITS,
    FixedPointError,
    halvings_per_us_q24,
    require_word,
)
from sfc_testbed.testbed.control_plane.load_balancing import load_balancing_commands
from sfc_testbed.testbed.control_plane.prototype import (
    OVERFLOW_US,
    PAUSE_SHIFT,
    QUANTA_PER_US,
    no_constant,
    threshold_below,
)
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.model import Port, SwitchPort, Topology, port_mac
from sfc_testbed.wire.bts import SUB_RTT_UNIT_NS, tick_bits
from sfc_testbed.wire.constants import (
    BTS_MIRROR_SESSION,
    CLASS_BY_DSCP,
    CLASS_CONTROL,
    CLASS_DATA,
    PAUSE_MIRROR_SESSION,
    PFC_MAX_QUANTA,
    PFC_QUANTUM_BITS,
    QUEUE_PAUSE_QUANTA,
    RECIRCULATION_PORT,
)
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.ethernet import ORDINARY_MTU_BYTES
from sfc_testbed.wire.int_slots import rate_code, time_shift
from sfc_testbed.wire.units import NS_PER_S

ALPHA_ONE = 256
SUPPRESSION_BY_CLOCK = "by_clock"
"""The action whose last parameter is the lag of a switch's clock, in us modulo 2^48."""
_Q24 = 1 << 24
_Q32 = 1 << 32
_ALPHA_BITS = 16
_PERIOD_BITS = 20
"""Approximate number of bits of a period counted in ticks; the period is accurate to 1/4096."""
_US = 1_000_000
_LEAST_INT_KBPS = 100
"""Lowest telemetry rate. Below it the rounding error exceeds 1 %."""
_MOST_FEEDBACK = 63
_FEEDBACK_LEVELS = 8
"""Number of ranges of the 6-bit feedback with separate sampling intervals (docs/sources.md#qcn)."""
_MOST_RAMP_UP_TOKENS = 256
"""Largest number of tokens of Bolt's proactive ramp-up on a port (docs/sources.md#bolt)."""
_NEVER_IDLE_US_Q16 = 1 << 62
"""A time for which no link is ever idle."""
_BFC_KEEP_HOP_RTTS = 3
"""Hop RTTs for which a flow without packets keeps its queue (docs/sources.md#bfc)."""
_BFC_RESUMES_PER_HOP_RTT = 2
"""Upstream queues that each queue resumes per hop RTT at most (docs/sources.md#bfc)."""
_HEADROOM_DELAYS = 3  # docs/sources.md#pfc: the round trip, and frames already in flight


def feature_commands(
    topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation
) -> Iterator[Command]:
    """Yield the entries of every mechanism that the settings enable on this switch."""
    runs_sfc = topology.switch[switch].is_tor or settings.deployment == "all"
    if settings.pfc or settings.sfc_p or settings.bfc_queues is not None:
        yield MirrorSession(PAUSE_MIRROR_SESSION, RECIRCULATION_PORT)
    runs_bts = settings.bts != "off" and runs_sfc
    if runs_bts or settings.qcn_q_eq_bytes is not None or settings.bolt_threshold_bytes is not None:
        yield MirrorSession(BTS_MIRROR_SESSION, RECIRCULATION_PORT)
        yield TableEntry("time_stamp", "count_ticks", parameters=(tick_bits(dilation),))
    if runs_bts:
        yield from _bts_commands(topology, switch, settings, dilation)
        yield from _estimator_commands(topology, switch, settings, dilation)
    if settings.sfc_p or settings.pfc or settings.bfc_queues is not None:
        for port in topology.ports[switch]:
            yield TableEntry("pause_source", "port_address", (port.number,), (_mac(topology, switch, port),))
    yield from _sfc_p_commands(topology, switch, settings, dilation)
    yield from _pfc_commands(topology, switch, settings, dilation)
    yield from _bfc_commands(topology, switch, settings, dilation)
    yield from _ecn_commands(topology, switch, settings)
    yield from _int_commands(topology, switch, settings, dilation)
    yield from _qcn_commands(settings)
    yield from _bolt_commands(topology, switch, settings, dilation)
    yield from _trimming_commands(settings)
    yield from load_balancing_commands(topology, switch, settings, dilation)


def byte_time_us_q24(rate_bps: int) -> int:
    """Return the transmission time of a byte at a wall rate, in 2^-24 us, rounded to nearest."""
    return (8 * _US * _Q24 + rate_bps // 2) // rate_bps


def _byte_time_units_q24(rate_bps: int) -> int:
    """Return the transmission time of a byte at a model rate, in 2^-24 units of Bolt's drain time."""
    unit_bits = SUB_RTT_UNIT_NS * rate_bps
    return (8 * NS_PER_S * _Q24 + unit_bits // 2) // unit_bits


def headroom_bytes(port: SwitchPort, pass_latency_ns: int = 0) -> int:
    """Return the bytes that may still arrive on a port after its neighbour is paused (docs/sources.md#pfc)."""
    return _HEADROOM_DELAYS * port.rate_bps * (port.delay_ns + pass_latency_ns) // (8 * 1_000_000_000)


def _bts_commands(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    action = f"{settings.bts}_bts{'_by_departure' if settings.depth_source == 'departure' else ''}"
    q_th_bytes = threshold_below(settings.q_th_bytes) if settings.queue_bit else settings.q_th_bytes
    for traffic_class in settings.bts_classes:
        yield TableEntry("bts_trigger", action, (traffic_class,), (q_th_bytes, settings.q_tg_bytes))
    for port in topology.ports[switch]:
        yield pause_time_entry(settings, port, port.rate_bps, dilation)
    yield from _suppression_commands(settings, dilation)
    yield from _pause_unit_commands(settings, dilation)
    if settings.pause_cache:
        yield TableEntry("pause_cache", "cache_on")


def pause_time_entry(settings: SwitchSettings, port: SwitchPort, rate_bps: int, dilation: Dilation) -> TableEntry:
    """Return the entry that computes pauses of a port at a model rate."""
    table, keys = "congested_port", (port.number,)
    if settings.pause_method == "shifts":
        parameters = (_of_rate(PAUSE_SHIFT, rate_bps), dilation.factor, int(port.peer_is_host))
        return TableEntry(table, "port_shift", keys, parameters)
    byte_us = require_word("the time of a byte", byte_time_us_q24(dilation.wall_bps(rate_bps)), rate_bps)
    return TableEntry(table, "port_speed", keys, (byte_us, int(port.peer_is_host)))


def suppression_period_us(settings: SwitchSettings, dilation: Dilation) -> int:
    """Return the wall time between two resets of the suppression filter; 0 without suppression."""
    return max(1, dilation.wall_ns(settings.suppression_ns) // 1000) if settings.suppression_ns else 0


def _suppression_commands(settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    period_us = suppression_period_us(settings, dilation)
    if not period_us:
        return
    if settings.suppression_key != "flow":
        yield TableEntry("suppression_key", f"by_{settings.suppression_key.replace('-', '_')}")
    if settings.suppression_filter == "banks":
        yield TableEntry("suppression", "banks")
        yield TableEntry("suppression_period", "swap_after", parameters=(period_us,))
        return
    if settings.suppression_timer == "trigger":
        yield TableEntry("suppression", "filter", parameters=(period_us,))
        return
    tick_bits = max(0, period_us.bit_length() - _PERIOD_BITS)
    periods_q32 = min((1 << WORD_BITS) - 1, -(-(1 << WORD_BITS + tick_bits) // period_us))
    yield TableEntry("suppression", SUPPRESSION_BY_CLOCK, parameters=(periods_q32, tick_bits, 0))


def _pause_unit_commands(settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    """Yield the entries that divide a pause by the dilation. They multiply by its reciprocal, which is rounded up."""
    factor = dilation.factor
    if factor == 1:
        return
    if factor >= 1 << WORD_BITS:
        raise FixedPointError(f"a dilation of {factor} is too large for BTS; the largest is {(1 << WORD_BITS) - 1}")
    shift = WORD_BITS - 1 + (factor - 1).bit_length()
    is_down = settings.pause_rounding == "down"
    parameters = (factor, -(-(1 << shift) // factor), shift, 0 if is_down else factor - 1)
    yield TableEntry("dilation", "divide", parameters=parameters)
    if is_down:
        yield TableEntry("least_cached_pause", "ignore_below", parameters=(factor,))


def _estimator_commands(
    topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation
) -> Iterator[Command]:
    """Yield an entry for every host under another ToR, since each may be an incast receiver (paper section 3.3)."""
    if not settings.estimator or not topology.switch[switch].is_tor:
        return
    halvings = halvings_per_us_q24("estimator_tau_ns", settings.estimator_tau_ns, dilation, "the estimator")
    q_th_bytes = settings.q_th_bytes if settings.estimator_q_th_bytes is None else settings.estimator_q_th_bytes
    q_tg_bytes = settings.q_tg_bytes if settings.estimator_q_tg_bytes is None else settings.estimator_q_tg_bytes
    remote_hosts = (host for host in topology.hosts if host.switch != switch)
    for index, host in enumerate(remote_hosts):
        rate_bps = topology.host_link[host.name].rate_bps
        tau_rate_bytes = round(settings.estimator_tau_ns * rate_bps / 8e9)
        byte_us = require_word("the time of a byte", byte_time_us_q24(dilation.wall_bps(rate_bps)), rate_bps)
        parameters = (index, halvings, tau_rate_bytes, byte_us, q_th_bytes, q_tg_bytes)
        yield TableEntry("watched_destination", "watch", (host.ip,), parameters)


def _sfc_p_commands(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    if not settings.sfc_p:
        return
    for dscp, traffic_class in CLASS_BY_DSCP.items():
        yield TableEntry("flow_class", "pause_class", (dscp,), (traffic_class,))
    for port in topology.ports[switch]:
        if port.peer_is_host:
            rate_bps = dilation.wall_bps(port.rate_bps)
            per_us = round(rate_bps * _Q24 / (PFC_QUANTUM_BITS * _US))
            mac = _mac(topology, switch, port)
            if settings.sfc_p_quanta == "shifts":
                per_us = (_of_rate(QUANTA_PER_US, port.rate_bps) * _Q32 + dilation.factor // 2) // dilation.factor
                overflow_us = require_word("an overflow", OVERFLOW_US[port.rate_bps] * dilation.factor, port.rate_bps)
                yield TableEntry("sfc_p", "pause_server_by_factor", (port.number,), (per_us, overflow_us, mac))
                continue
            longest_us = require_word("a pause of 65535 quanta", _longest_pause_us(rate_bps), port.rate_bps)
            yield TableEntry("sfc_p", "pause_server", (port.number,), (per_us, longest_us, mac))


def _pfc_commands(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    if not settings.pfc:
        return
    assert settings.buffer_bytes is not None
    ports = topology.ports[switch]
    pass_ns = topology.switch[switch].pass_latency_ns
    reserve = settings.pfc_reserve_bytes
    shareable = max(0, settings.buffer_bytes - sum(headroom_bytes(port, pass_ns) + reserve for port in ports))
    slowest_bps = min(link.rate_bps for link in topology.links)
    fastest_bps = max(port.rate_bps for port in ports)
    longest_us = _longest_pause_us(dilation.wall_bps(fastest_bps))
    refresh_us = require_word("a pause of 65535 quanta", longest_us, fastest_bps) // 2
    last_port = max(port.number for port in ports)
    for port in ports:
        alpha = round(settings.pfc_alpha * ALPHA_ONE * port.rate_bps / slowest_bps)
        if alpha >= 1 << _ALPHA_BITS:
            raise FixedPointError(
                f"pfc_alpha {settings.pfc_alpha:g} of a link of {slowest_bps} bit/s "
                f"is too much for one of {port.rate_bps} bit/s"
            )
        parameters = (alpha, settings.pfc_xon_offset_bytes, shareable, reserve, refresh_us, last_port)
        yield TableEntry("pfc", "lossless", (port.number, CLASS_DATA), parameters)


def hop_rtt_ns(topology: Topology, switch: str) -> int:
    """Return the longest time from a pause of a neighbour until the first packet that it did not send.

    Both the frame and the packet pass the pipeline of their switch, if they leave one, and the link.
    """
    return max(
        topology.departure_delay_ns(Port(switch, port.number)) + topology.departure_delay_ns(port.peer)
        for port in topology.ports[switch]
    )


def _bfc_commands(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    if settings.bfc_queues is None:
        return
    ports = topology.ports[switch]
    hop_ns = hop_rtt_ns(topology, switch)
    keep_us = _BFC_KEEP_HOP_RTTS * dilation.wall_ns(hop_ns) // 1000
    turn_us = max(1, dilation.wall_ns(hop_ns) // (1000 * _BFC_RESUMES_PER_HOP_RTT))
    longest_us = QUEUE_PAUSE_QUANTA * min(_longest_pause_us(dilation.wall_bps(port.rate_bps)) for port in ports)
    refresh_us = require_word("the pause of a queue", longest_us, max(port.rate_bps for port in ports)) // 2
    for port in ports:
        hop_bytes = hop_ns * port.rate_bps // (8 * 1_000_000_000)
        units = round(dilation.wall_bps(port.rate_bps) * _Q24 / (QUEUE_PAUSE_QUANTA * PFC_QUANTUM_BITS * _US))
        parameters = (settings.bfc_queues, hop_bytes, keep_us, refresh_us, turn_us)
        yield TableEntry("bfc", "backpressure", (port.number, CLASS_DATA), parameters)
        yield TableEntry("bfc_neighbour", "note_pause", (port.number,))
        yield TableEntry("bfc_upstream", "remaining_pause", (port.number,), (units,))
        yield FlowQueues(port.number, CLASS_DATA, settings.bfc_queues, ORDINARY_MTU_BYTES)


def _ecn_commands(topology: Topology, switch: str, settings: SwitchSettings) -> Iterator[Command]:
    """Yield the thresholds of each port. With `ecn_by_rate` they are in proportion to the rate of the port."""
    if settings.ecn_kmin_bytes is None:
        return
    k_max_bytes = settings.ecn_kmin_bytes if settings.ecn_kmax_bytes is None else settings.ecn_kmax_bytes
    nic_bps = max(host.rate_bps for host in topology.hosts)
    for port in topology.ports[switch]:
        ratio = port.rate_bps / nic_bps if settings.ecn_by_rate else 1
        k_min, k_max = (min(LARGEST_WORD, round(bytes_ * ratio)) for bytes_ in (settings.ecn_kmin_bytes, k_max_bytes))
        slope = min(LARGEST_WORD, round(settings.ecn_pmax * 2**32 / max(1, k_max - k_min)))
        yield TableEntry("ecn", "red", (port.number, CLASS_DATA), (k_min, k_max, slope))


def telemetry_entry(topology: Topology, port: int, rate_bps: int, dilation: Dilation) -> TableEntry:
    """Return the entry for telemetry of a port of this model rate, in both layouts."""
    kbps = dilation.wall_bps(rate_bps) // 1000
    parameters = (kbps, rate_code(topology.link_rates_bps, rate_bps), time_shift(dilation))
    return TableEntry("int_port", "port_rate", (port,), parameters)


def _int_commands(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    if settings.int_telemetry:
        for port in topology.ports[switch]:
            if dilation.wall_bps(port.rate_bps) // 1000 < _LEAST_INT_KBPS:
                raise FixedPointError(f"a link of {port.rate_bps} bit/s is too slow for telemetry in kbit/s")
            yield telemetry_entry(topology, port.number, port.rate_bps, dilation)


def _qcn_commands(settings: SwitchSettings) -> Iterator[Command]:
    """Yield the entries of the congestion points, which every switch has with or without SFC (docs/sources.md#qcn)."""
    q_eq_bytes, w = settings.qcn_q_eq_bytes, settings.qcn_w
    if q_eq_bytes is None:
        return
    most_bytes = q_eq_bytes * (2 * w + 1)
    levels_q32 = -(-(_MOST_FEEDBACK << WORD_BITS) // most_bytes)
    yield TableEntry("qcn", "congestion_point", (CLASS_DATA,), (q_eq_bytes, w, most_bytes, levels_q32))
    for level in range(_FEEDBACK_LEVELS):
        yield TableEntry("qcn_interval", "next_after", (level,), (settings.qcn_sample_bytes // (level + 1),))


def _bolt_commands(topology: Topology, switch: str, settings: SwitchSettings, dilation: Dilation) -> Iterator[Command]:
    """Yield an entry for each port, since every switch runs Bolt, with or without SFC (docs/sources.md#bolt)."""
    if settings.bolt_threshold_bytes is not None:
        for port in topology.ports[switch]:
            yield bolt_entry(settings, port.number, port.rate_bps, dilation)


def bolt_entry(settings: SwitchSettings, port: int, rate_bps: int, dilation: Dilation) -> TableEntry:
    """Return the entry of Bolt for a port of this model rate."""
    assert settings.bolt_threshold_bytes is not None
    supply_bytes = settings.bolt_supply_bytes
    most_tokens = _MOST_RAMP_UP_TOKENS if settings.bolt_ramp_up else 0
    byte_us = require_word("the time of a byte", byte_time_us_q24(dilation.wall_bps(rate_bps)), rate_bps)
    supply_us = _NEVER_IDLE_US_Q16 if supply_bytes is None else supply_bytes * byte_us >> 8
    byte_units = require_word("the time of a byte", _byte_time_units_q24(rate_bps), rate_bps)
    parameters = (settings.bolt_threshold_bytes, byte_us, byte_units, supply_us, most_tokens, CLASS_DATA)
    return TableEntry("bolt", "bolt_port", (port,), parameters)


def _trimming_commands(settings: SwitchSettings) -> Iterator[Command]:
    if settings.trim_queue_bytes is not None:
        headers = settings.header_queue_bytes
        data_limits = (settings.trim_queue_bytes, CLASS_CONTROL, headers)
        yield TableEntry("trimming", "data_queue", (CLASS_DATA,), data_limits)
        yield TableEntry("trimming", "header_queue", (CLASS_CONTROL,), (headers,))


def _of_rate(constants: Mapping[int, int], rate_bps: int) -> int:
    if rate_bps not in constants:
        raise FixedPointError(no_constant(rate_bps))
    return constants[rate_bps]


def _longest_pause_us(rate_bps: int) -> int:
    """Return the duration of 65535 pause quanta at a wall rate."""
    return PFC_MAX_QUANTA * PFC_QUANTUM_BITS * _US // rate_bps


def _mac(topology: Topology, switch: str, port: SwitchPort) -> str:
    return port_mac(topology.switch[switch].switch_id, port.number)
