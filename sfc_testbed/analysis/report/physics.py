# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The numbers of a run that follow from its network or were set, such as base RTT and thresholds, as text.

They are read from config.json.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sfc_testbed.analysis.formatting import format_bytes, format_us, three_digits
from sfc_testbed.analysis.report.data_table import DataTable
from sfc_testbed.request.spec import Physics, RunConfig


def physics_rows(config: RunConfig | None) -> list[tuple[str, str]]:
    """Return name and value of the base RTT, BDP, NICs, windows, timeouts and thresholds that the run used."""
    if config is None:
        return []
    try:
        return [
            *_network(config.physics),
            *_limits(config.transport_settings),
            *_thresholds(config.switch_settings),
        ]
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return [("network and limits", "unknown, because config.json is damaged")]


def physics_tables(config: RunConfig | None) -> list[DataTable]:
    """Return the rows of `physics_rows` as a table for a page; no table without rows."""
    rows = physics_rows(config)
    note = (
        "Derived from the topology unless set. Windows, timeouts and thresholds follow from the base RTT between the "
        "most distant hosts and from the largest BDP of all NICs."
    )
    return [DataTable("Network and limits", ("quantity", "value"), rows, note)] if rows else []


def _network(physics: Physics) -> Iterator[tuple[str, str]]:
    yield "base RTT", _time(physics.base_rtt_ns)
    yield "BDP", _of_nics(physics.bdp_of_nics, physics.bdp_bytes)
    yield "NICs", ", ".join(f"{hosts} x {_rate(rate_bps)}" for rate_bps, hosts in physics.nic_rates_bps.items())
    yield "first window", _of_nics(physics.window_of_nics, physics.window_bytes)


def _of_nics(by_rate: Mapping[int, int | None], of_all: int | None) -> str:
    """Return the value of all NICs; if it depends on the NIC rate, the value of each rate."""
    if len(set(by_rate.values())) < 2:
        return _bytes(of_all)
    return ", ".join(f"{_bytes(size_bytes)} at {_rate(rate)}" for rate, size_bytes in by_rate.items())


def _bytes(size_bytes: int | None) -> str:
    return "none" if size_bytes is None else format_bytes(size_bytes)


def _rate(rate_bps: int) -> str:
    return f"{three_digits(rate_bps / 1e9)} Gb/s"


def _limits(transport: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    recovery = transport.get("loss_recovery_parameters") or {}
    if "initial_window_packets" in recovery:
        yield "initial window (NDP)", f"{recovery['initial_window_packets']:,} packets"
    if "cap_packets" in recovery:
        yield "cap in flight (BDP-FC)", f"{recovery['cap_packets']:,} packets" if recovery["cap_packets"] else "none"
    if "rto_high_ns" in recovery:
        yield "timeouts", f"{_time(recovery['rto_low_ns'])}, {_time(recovery['rto_high_ns'])}"
    elif "rto_ns" in recovery:
        yield "timeout", _time(recovery["rto_ns"])
    elif "rto_ns" in transport:
        yield "timeout", _time(transport["rto_ns"])
    threshold_ns = (transport.get("flow_control_parameters") or {}).get("threshold_ns")
    if threshold_ns is not None:
        yield "one-way delay threshold", _time(threshold_ns)


def _thresholds(switch: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if switch.get("bts", "off") != "off":
        yield "Q_th, Q_tg", f"{format_bytes(switch['q_th_bytes'])}, {format_bytes(switch['q_tg_bytes'])}"
        yield "suppression period", _time(switch["suppression_ns"]) if switch["suppression_ns"] else "none"
        if switch.get("estimator"):
            yield "estimator's time constant", _time(switch["estimator_tau_ns"])
    if switch.get("trim_queue_bytes") is not None:
        both = (switch["trim_queue_bytes"], switch["header_queue_bytes"])
        yield "data queue, header queue", ", ".join(map(format_bytes, both))
    if switch.get("qcn_q_eq_bytes") is not None:
        yield "QCN's Q_eq", format_bytes(switch["qcn_q_eq_bytes"])
    if switch.get("ecn_kmin_bytes") is not None:
        k_max = switch["ecn_kmin_bytes"] if switch["ecn_kmax_bytes"] is None else switch["ecn_kmax_bytes"]
        yield "ECN Kmin, Kmax", f"{format_bytes(switch['ecn_kmin_bytes'])}, {format_bytes(k_max)}"


def _time(duration_ns: float) -> str:
    return format_us(duration_ns / 1000)
