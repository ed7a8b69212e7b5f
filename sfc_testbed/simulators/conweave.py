# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The ConWeave simulator (`network-load-balance`): input files written from a plan, and its table of flows read back.

It grew out of the HPCC simulator and adds IRN and drops, so the plan's scheme must be `irn` or `gbn` with `+hpcc` or
`+dcqcn`. Its BDP and timeouts are compiled in, which fits only networks with `NETWORK` and plans with `TIMEOUTS`. It
also has load balancings in its ToRs. Their constants are compiled in too: `LOAD_BALANCING`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

import polars as pl

from sfc_testbed.scenarios.traffic.hpcc_files import START_S
from sfc_testbed.simulators.comparison import PeerFlow, sent_between_samples
from sfc_testbed.simulators.hpcc import (
    CONGESTION,
    MIB,
    common_configuration,
    fct_rows,
    load_balancing_of,
    suffixes,
    topology_text,
)
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.wire.units import NS_PER_S

NAME, VARIABLE = "ConWeave simulator", "SFC_TESTBED_CONWEAVE"
"""The simulator's name, and the environment variable with the path of its program `network-load-balance`."""
SCHEMES: tuple[str, ...] = ("irn+hpcc", "irn+dcqcn", "gbn+hpcc")
FCT_FILE, FCT_MARK = "fct.txt", ""
_CONTROLS = {name: CONGESTION[name] for name in ("hpcc", "dcqcn")}
"""The congestion controls that the comparison covers."""

NETWORK = (
    "topology.fabric_rate_bps=100000000000",
    "topology.fabric_delay_ns=1000",
    "transport.base_rtt_ns=8320",
    "transport.payload_bytes=1000",
    "transport.int_layout=compact",
    "transport.ack_priority=control",
)
"""The settings of a leaf-spine network with a BDP of 104,000 B, which is one of the two that the program knows.

Its switches give ACKs and NACKs priority, which the HPCC simulator's do not: the program sets their `AckHighPrio`.

Telemetry of constant length, as the program's, decides which flow loses packets: frames that grow from hop to hop leave
a full queue at other times than new frames arrive, so that each input port gets some of the free space. With frames of
one length, the same port gets it every time.
"""
TIMEOUTS: Mapping[str, tuple[str, ...]] = {
    "irn": ('transport.loss_recovery_parameters={"rto_low_ns": 100000, "rto_high_ns": 320000, "cap_packets": 104}',),
    "gbn": ("transport.rto_ns=4000000", 'transport.loss_recovery_parameters={"nak_interval_ns": 4000}'),
}
"""The timeouts, cap and NAK interval of the program, by loss recovery."""
_LB_MODES = {"ecmp": 0, "drill": 2, "conga": 3, "flowlet": 6}
"""The program's numbers of our load balancings. Its 9 is ConWeave, which we do not have."""
_COMPILED: Mapping[str, Mapping[str, object]] = {
    "ecmp": {},
    "drill": {"drill_samples": 2, "drill_memory": 1},
    "conga": {"flowlet_gap_ns": 100_000, "conga_tau_ns": 250_000},
    "flowlet": {"flowlet_gap_ns": 100_000},
}
"""The constants of the program, as settings of our switches. CONGA's are T_dre / alpha = 50 us / 0.2."""
LOAD_BALANCING: Mapping[str, tuple[str, ...]] = {
    name: tuple(f"switch.{key}={value}" for key, value in constants.items()) for name, constants in _COMPILED.items()
}
"""The settings without which a plan with this load balancing is refused."""
_RESERVE_BYTES = 8 * 1_048
"""The part of a buffer that its switches reserve for each port: a frame for each of eight classes."""
_BDP_BYTES = 104_000
_LINK_DELAY_NS = 1_000
"""The program ends with an assertion at any other delay."""
_TOPOLOGY = "leaf_spine_128_100G_OS2.txt"
"""The program looks up the BDP by this name."""
_CONFIGURATION, _FLOWS, _UPLINKS = "config.txt", "flow.txt", "uplink.txt"
_SAMPLE_NS = 100_000
"""The interval in which the program writes how many bytes the uplinks of each ToR have sent, as its plot needs it."""
_UNUSED_OUTPUTS = (
    "FLOW_INPUT_FILE", "CNP_OUTPUT_FILE", "PFC_OUTPUT_FILE", "QLEN_MON_FILE", "VOQ_MON_FILE", "VOQ_MON_DETAIL_FILE",
    "CONN_MON_FILE", "EST_ERROR_MON_FILE",
)  # fmt: skip
_LONGEST_S = 10


def shared_bytes(buffer_mib: int, ports: int) -> int:
    """Return the part of a switch's buffer that its ports share, in bytes: our buffer in a comparison."""
    return buffer_mib * MIB - ports * _RESERVE_BYTES


def write_input(plan: RunPlan, program: str, folder: Path) -> list[str]:
    """Write the simulator's input into a folder, and return the command to run there.

    Raises ValueError for what it does not simulate.
    """
    settings = configuration(plan)
    (folder / _TOPOLOGY).write_text(topology_text(plan.topology))
    lines = [
        f"{int(flow.src[1:]) - 1} {int(flow.dst[1:]) - 1} 3 {flow.size_bytes} {_seconds(flow.start_ns)}"
        for flow in sorted(plan.flows, key=lambda flow: flow.start_ns)
    ]
    (folder / _FLOWS).write_text("\n".join([str(len(lines)), *lines, ""]))
    (folder / _CONFIGURATION).write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    return [program, _CONFIGURATION]


def finished_flows(table: str) -> Iterator[PeerFlow]:
    """Yield the rows of an FCT table. Raise ValueError for a line with other columns."""
    for columns in fct_rows(table):
        src, dst, _, _, size_bytes, start_ns, fct_ns, _ = map(int, columns)
        yield PeerFlow(src, dst, size_bytes, start_ns - START_S * NS_PER_S, fct_ns)


def uplinks_in(folder: Path) -> pl.DataFrame:
    """Return the bytes that the uplinks of ToRs sent in each interval, with the columns of the trace `links`."""
    columns = {"time_ns": pl.Int64, "switch": pl.String, "port": pl.Int64, "total_bytes": pl.Int64}
    rows = pl.read_csv(folder / _UPLINKS, has_header=False, schema=columns)
    return sent_between_samples(rows.with_columns(pl.col("time_ns") - START_S * NS_PER_S))


def configuration(plan: RunPlan) -> Mapping[str, object]:
    """Return the configuration by key. Raise ValueError for another scheme or network than those described above."""
    transport, switch = plan.config.transport_settings, plan.config.switch_settings
    lb_mode = _lb_mode(plan)
    recovery = {"irn": 1, "go-back-n": 0}.get(transport["loss_recovery"])
    if recovery is None or switch["pfc"] or transport["flow_control"] != "none":
        raise ValueError(
            f"scheme {plan.config.scheme}: the {NAME} does what irn and gbn do, with {suffixes(_CONTROLS)}"
        )
    if transport["bdp_bytes"] != _BDP_BYTES:
        raise ValueError(
            f"the {NAME} is compiled for a BDP of {_BDP_BYTES:,} B, not {transport['bdp_bytes']:,}: "
            f"--set {' --set '.join(NETWORK)}"
        )
    if transport["ack_priority"] != "control":
        raise ValueError(f"the switches of the {NAME} give ACKs priority: --set transport.ack_priority=control")
    for link in plan.topology.links:
        if link.delay_ns != _LINK_DELAY_NS:
            raise ValueError(
                f"the {NAME} is compiled for a delay of {_LINK_DELAY_NS:,} ns on every link, and the link "
                f"{link.a.node}-{link.b.node} has {link.delay_ns:,} ns: --set topology.host_delay_ns={_LINK_DELAY_NS} "
                f"--set topology.fabric_delay_ns={_LINK_DELAY_NS}"
            )
    return {
        "TOPOLOGY_FILE": _TOPOLOGY,
        "FLOW_FILE": _FLOWS,
        "FCT_OUTPUT_FILE": FCT_FILE,
        **{key: f"{key.lower()}.txt" for key in _UNUSED_OUTPUTS},
        "QLEN_MON_START": 0,
        "QLEN_MON_END": 0,
        "UPLINK_MON_FILE": _UPLINKS,
        "SW_MONITORING_INTERVAL": _SAMPLE_NS,
        "FLOWGEN_START_TIME": START_S,
        "FLOWGEN_STOP_TIME": START_S + _LONGEST_S,
        "LB_MODE": lb_mode,
        "ENABLE_PFC": 0,
        "ENABLE_IRN": recovery,
        "ERROR_RATE_PER_LINK": 0,
        "LINK_DOWN": "0 0 0",
        "LOAD": 0,
        "RANDOM_SEED": 1,
        **common_configuration(plan, NAME, _CONTROLS),
    }


def _lb_mode(plan: RunPlan) -> int:
    """Return the program's number of a load balancing. ValueError for others, and for settings it does not have."""
    name, switch = load_balancing_of(plan), plan.config.switch_settings
    if name not in _LB_MODES:
        raise ValueError(f"load balancing {name}: the {NAME} has {', '.join(_LB_MODES)}")
    for key, value in _COMPILED[name].items():
        if switch[key] != value:
            raise ValueError(
                f"switch.{key} {switch[key]}: the {NAME} is compiled for {value}; --set switch.{key}={value}"
            )
    return _LB_MODES[name]


def _seconds(start_ns: int) -> str:
    return f"{Decimal(start_ns) / NS_PER_S + START_S:.9f}"
