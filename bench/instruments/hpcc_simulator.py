# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The HPCC simulator as a contestant: its topology and configuration, written from a plan, and its FCT table.

Rates, delays, payload, buffer and parameters are from the plan, whose scheme must be `pfc+hpcc`: HPCC, go-back-N
and PFC are what the simulator does. It derives window and base RTT from the network, by itself. Its optional
recordings, of packets and of queues, are off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from bench.instruments.contestants import Peer
from scenarios.traffic.hpcc_files import START_S, format_hpcc_flows
from testbed.plan.plan import RunPlan
from topologies.model import Topology

_CONFIGURATION, _TOPOLOGY, _FLOWS, _FCT = "config.txt", "topology.txt", "flow.txt", "fct.txt"
_HPCC_MODE = 3
_MIB = 1 << 20
_INT_UNIT_BPS = 25_000_000_000
_LONGEST_S = 10
"""Model time at which a simulation ends in which a flow hangs."""
_FCT_COLUMNS, _SIZE_COLUMN = 8, 4


class HpccSimulator(Peer):
    """The simulator's program `third`, in the mode HPCC."""

    name = "HPCC simulator"
    variable = "SFC_TESTBED_HPCC"

    def command(self, plan: RunPlan, folder: Path) -> list[str]:
        (folder / _TOPOLOGY).write_text(topology_text(plan.topology))
        (folder / _FLOWS).write_text(format_hpcc_flows(plan.flows))
        (folder / "trace.txt").write_text("0\n")
        lines = (f"{key} {value}" for key, value in configuration(plan).items())
        (folder / _CONFIGURATION).write_text("\n".join([*lines, ""]))
        return [self._path, _CONFIGURATION]

    def delivered(self, output: str, folder: Path) -> Iterable[int]:
        return list(finished_bytes((folder / _FCT).read_text()))


def finished_bytes(table: str) -> Iterator[int]:
    """Yield the bytes of each flow in an FCT table. Raise ValueError for a line with other columns."""
    for line in table.splitlines():
        columns = line.split()
        if len(columns) != _FCT_COLUMNS:
            raise ValueError(f"not a line of an FCT table: {line[:100]!r}")
        yield int(columns[_SIZE_COLUMN])


def topology_text(topology: Topology) -> str:
    """Return the network as a topology file: nodes, switches and links. Hosts come first, as in the flow file."""
    nodes = [*topology.host, *topology.switch]
    numbers = {name: number for number, name in enumerate(nodes)}
    links = [
        f"{numbers[link.a.node]} {numbers[link.b.node]} {link.rate_bps}bps {link.delay_ns}ns 0"
        for link in topology.links
    ]
    switches = " ".join(str(numbers[name]) for name in topology.switch)
    return "\n".join([f"{len(nodes)} {len(topology.switch)} {len(links)}", switches, *links, ""])


def configuration(plan: RunPlan) -> Mapping[str, object]:
    """Return the configuration by key. Raise ValueError for another scheme than `pfc+hpcc`."""
    transport, switch = plan.config.transport_settings, plan.config.switch_settings
    if (transport["congestion"], transport["loss_recovery"], switch["pfc"]) != ("hpcc", "go-back-n", True):
        raise ValueError(f"scheme {plan.config.scheme}: the HPCC simulator does what pfc+hpcc does")
    hpcc = transport["congestion_parameters"]
    rates = sorted({link.rate_bps for link in plan.topology.links})
    stop_s = START_S + _LONGEST_S
    return {
        "TOPOLOGY_FILE": _TOPOLOGY,
        "FLOW_FILE": _FLOWS,
        "FCT_OUTPUT_FILE": _FCT,
        "PFC_OUTPUT_FILE": "pfc.txt",
        "TRACE_FILE": "trace.txt",
        "TRACE_OUTPUT_FILE": "packets.tr",
        "ENABLE_TRACE": 0,
        "QLEN_MON_FILE": "queues.txt",
        "QLEN_MON_START": 2 * stop_s * 10**9,
        "QLEN_MON_END": 2 * stop_s * 10**9,
        "SIMULATOR_STOP_TIME": stop_s,
        "PACKET_PAYLOAD_SIZE": transport["payload_bytes"],
        "BUFFER_SIZE": round(switch["buffer_bytes"] / _MIB),
        "USE_DYNAMIC_PFC_THRESHOLD": 1,
        "CC_MODE": _HPCC_MODE,
        "U_TARGET": hpcc["eta"],
        "MI_THRESH": hpcc["max_stage"],
        "RATE_AI": f"{hpcc['additive_bps']}bps",
        "RATE_HAI": f"{hpcc['additive_bps']}bps",
        "MIN_RATE": f"{hpcc['min_rate_bps']}bps",
        "FAST_REACT": int(hpcc["fast_react"]),
        "INT_MULTI": transport["line_rate_bps"] // _INT_UNIT_BPS,
        "MULTI_RATE": 0,
        "SAMPLE_FEEDBACK": 0,
        "HAS_WIN": 1,
        "VAR_WIN": 1,
        "GLOBAL_T": 1,
        "RATE_BOUND": 1,
        "L2_CHUNK_SIZE": 4_000,
        "L2_ACK_INTERVAL": transport["ack_every"],
        "L2_BACK_TO_ZERO": 0,
        "ACK_HIGH_PRIO": int(transport["ack_priority"] == "control"),
        "ENABLE_QCN": 1,
        "KMIN_MAP": _map({rate: 4 * rate // 10**9 for rate in rates}),
        "KMAX_MAP": _map({rate: 16 * rate // 10**9 for rate in rates}),
        "PMAX_MAP": _map(dict.fromkeys(rates, 0.2)),
    }


def _map(values: Mapping[int, float]) -> str:
    """Return values by link rate. ECN thresholds are in KB; HPCC ignores the marks, but each rate needs thresholds."""
    return " ".join([str(len(values)), *(f"{rate} {value}" for rate, value in values.items())])
