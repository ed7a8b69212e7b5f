# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""UEC's htsim (`htsim_uec`): network and flows written from a plan; finished flows and bytes of uplinks read back.

It compares load balancing, not transports. Both sides have a static window, unlimited buffers and an ACK for each
packet, so the choice of paths decides when a flow ends. UEC's congestion controls and trimming are not compared.
All flows start at time 0 and consist of full packets.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from sfc_testbed.scenarios.model.waiting import any_waits
from sfc_testbed.simulators.comparison import PeerFlow, sent_between_samples
from sfc_testbed.simulators.hpcc import load_balancing_of
from sfc_testbed.simulators.htsim import traffic_matrix
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.topologies.model import Topology
from sfc_testbed.wire.units import NS_PER_S

NAME, VARIABLE = "UEC htsim", "SFC_TESTBED_HTSIM_UEC"
"""The simulator's name, and the environment variable with the path of its program `htsim_uec`."""
SCHEMES: tuple[str, ...] = ("irn+window",)
FCT_FILE, FCT_MARK = "output.txt", " finished at "
_TOPOLOGY, _FLOWS, _LOG, _NAMES = "network.topo", "flows.cm", "log.dat", "idmap.txt"

WINDOW = 'transport.congestion_parameters={"window_bytes": 104000}'
NETWORK = (
    "topology.fabric_rate_bps=100000000000",
    "topology.fabric_delay_ns=1000",
    "switch.buffer_bytes=null",
    "transport.payload_bytes=4000",
    "transport.ack_priority=control",
    WINDOW,
)
"""The settings of a leaf-spine network with one rate, and of a window of 26 packets, 1 BDP."""
HEADER_BYTES = 64
"""The header of its packets; its ACKs have this size too."""
_LOAD_BALANCINGS: Mapping[str, tuple[str, ...]] = {
    "ecmp": ("-load_balancing_algo", "oblivious", "-paths", "1"),
    "adaptive": ("-strat", "ecmp_ar", "-load_balancing_algo", "oblivious", "-ar_method", "queue"),
    "round-robin": ("-strat", "ecmp_rr", "-load_balancing_algo", "oblivious"),
    "oblivious": ("-load_balancing_algo", "oblivious"),
    "reps": ("-load_balancing_algo", "reps"),
}
"""Its options for our load balancings. Its ECMP hashes flow and entropy; with one path, a flow has one entropy."""
_QUEUE_PACKETS = {"adaptive": 400}
"""The length of its queues for load balancings that depend on it. Adaptive routing distinguishes queues below 5, 10
and 20 % of their limit; with this limit, 20, 40 and 80 packets."""
_LONG_QUEUE_PACKETS = 20_000
"""The length of all other queues, so that they drop and trim nothing."""
_SAMPLE_US = 100
_FINISHED = re.compile(
    r"^Flow Uec_(\d+)_(\d+) flowId \d+ .* finished at (\S+) .* total packets (\d+) RTS 0 ", re.MULTILINE
)
_PACKET = re.compile(r"^Packet size \(MTU\) is (\d+)$", re.MULTILINE)
_UPLINK = re.compile(r"^(\d+) (LS\d+)->US(\d+)\(\d+\)$", re.MULTILINE)
_RECORD = np.dtype(
    [("time_s", "<f8"), ("kind", "<u4"), ("queue", "<u4"), ("event", "<u4"), ("first", "<f8"), ("others", "<f8", 2)]
)
"""A record of its log. Its first value is the time that all arrivals take on the wire (CUM_TRAFFIC), or the bytes that
are queued (QUEUE_RANGE)."""
_CUM_TRAFFIC, _QUEUE_RANGE = 400, 500


def write_input(plan: RunPlan, program: str, folder: Path) -> list[str]:
    """Write network and flows into a folder, and return the command to run there.

    Raises ValueError for what it does not simulate.
    """
    options = configuration(plan)
    (folder / _TOPOLOGY).write_text(_topology_text(plan.topology))
    (folder / _FLOWS).write_text(traffic_matrix(plan, starts_us=True))
    words = [word for option, value in options.items() for word in (option, *str(value).split())]
    return [program, *words, *_LOAD_BALANCINGS[_load_balancing(plan)]]


def finished_flows(table: str) -> Iterator[PeerFlow]:
    """Yield the finished flows of the program's output. A flow consists of full packets."""
    packet = _PACKET.search(table)
    payload_bytes = int(packet.group(1)) - HEADER_BYTES if packet else 0
    for src, dst, finish_us, packets in _FINISHED.findall(table):
        yield PeerFlow(int(src), int(dst), int(packets) * payload_bytes, 0, round(1000 * float(finish_us)))


def uplinks_in(folder: Path) -> pl.DataFrame:
    """Return the bytes that the uplinks of ToRs sent in each interval, with the columns of the trace `links`."""
    records = np.frombuffer((folder / _LOG).read_bytes().partition(b"# TRACE\n")[2], _RECORD)
    names = _UPLINK.findall((folder / _NAMES).read_text())
    uplinks = pl.DataFrame(
        [(int(queue), switch, int(spine)) for queue, switch, spine in names],
        schema={"queue": pl.UInt32, "switch": pl.String, "port": pl.Int64},
        orient="row",
    )
    rate = re.search(r"^Linkspeed set to (\d+)Gbps$", (folder / FCT_FILE).read_text(), re.MULTILINE)
    bytes_per_s = int(rate.group(1)) * NS_PER_S / 8 if rate else 0
    arrived, queued = (records[records["event"] == event] for event in (_CUM_TRAFFIC, _QUEUE_RANGE))
    samples = pl.DataFrame(
        {
            "time_ns": np.rint(arrived["time_s"] * NS_PER_S).astype(np.int64),
            "queue": arrived["queue"],
            "total_bytes": np.rint(arrived["first"] * bytes_per_s - queued["first"]).astype(np.int64),
        }
    )
    return sent_between_samples(samples.join(uplinks, on="queue"))


def configuration(plan: RunPlan) -> Mapping[str, object]:
    """Return the options of the command with their values, if any. ValueError for what it does not do."""
    transport, switch = plan.config.transport_settings, plan.config.switch_settings
    longest = _QUEUE_PACKETS.get(_load_balancing(plan), _LONG_QUEUE_PACKETS)
    _check_transport(plan)
    _check_network(plan)
    _check_flows(plan)
    payload_bytes = transport["payload_bytes"]
    low, high = switch["ecn_kmin_bytes"], switch["ecn_kmax_bytes"] or switch["ecn_kmin_bytes"]
    marks = (longest, longest) if low is None else (round(low / payload_bytes), round(high / payload_bytes))
    return {
        "-topo": _TOPOLOGY,
        "-tm": _FLOWS,
        "-o": _LOG,
        "-linkspeed": transport["line_rate_bps"] // 1_000_000,
        "-mtu": payload_bytes + HEADER_BYTES,
        "-q": longest,
        "-ecn": f"{marks[0]} {marks[1]}",
        "-sender_cc_only": "",
        "-sender_cc_algo": "constant",
        "-cwnd": transport["congestion_parameters"]["window_bytes"] // payload_bytes,
        "-sack_threshold": 1,
        "-log": "tor_upqueue",
        "-logtime_us": _SAMPLE_US,
        "-end": round(plan.config.duration_ms * 1000),
        "-seed": plan.config.seed,
    }


def _load_balancing(plan: RunPlan) -> str:
    """Return the name of the load balancing of switches or hosts. ValueError if it has none of this kind."""
    name = load_balancing_of(plan)
    if name not in _LOAD_BALANCINGS:
        raise ValueError(f"load balancing {name}: the {NAME} has {', '.join(_LOAD_BALANCINGS)}")
    return name


def _check_transport(plan: RunPlan) -> None:
    transport, switch = plan.config.transport_settings, plan.config.switch_settings
    if (transport["congestion"], transport["flow_control"], switch["pfc"]) != ("window", "none", False):
        raise ValueError(f"scheme {plan.config.scheme}: the comparison with the {NAME} is of {SCHEMES[0]}")
    if transport["ack_priority"] != "control":
        raise ValueError(f"the switches of the {NAME} give ACKs priority: --set transport.ack_priority=control")
    window_bytes = transport["congestion_parameters"]["window_bytes"]
    if window_bytes % transport["payload_bytes"]:
        raise ValueError(
            f"window_bytes {window_bytes:,}: the window of the {NAME} is a whole number of packets of "
            f"{transport['payload_bytes']:,} B; --set '{WINDOW}'"
        )


def _check_network(plan: RunPlan) -> None:
    topology, buffer_bytes = plan.topology, plan.config.switch_settings["buffer_bytes"]
    rates = {link.rate_bps for link in topology.links}
    parameters: Mapping[str, Any] = topology.parameters
    if plan.config.topology != "clos" or len(rates) != 1 or parameters["uplinks"] != 1:
        words = " --set ".join(map(shlex.quote, NETWORK))
        raise ValueError(f"the comparison with the {NAME} is of a leaf-spine network: --topology clos --set {words}")
    if parameters["hosts_per_tor"] % parameters["spines"]:
        raise ValueError(
            f"{parameters['spines']} spines: the {NAME} needs a number that divides the "
            f"{parameters['hosts_per_tor']} hosts of a ToR"
        )
    if buffer_bytes is not None:
        raise ValueError(f"a port of the {NAME} has a buffer of its own: --set switch.buffer_bytes=null")
    if plan.faults:
        raise ValueError(f"{plan.config.scenario}: the {NAME} gets no faults from us")


def _check_flows(plan: RunPlan) -> None:
    payload_bytes = plan.config.transport_settings["payload_bytes"]
    if any_waits(plan.flows) or any(flow.start_ns for flow in plan.flows):
        raise ValueError(f"{plan.config.scenario}: all flows for the {NAME} start at time 0")
    for flow in plan.flows:
        if flow.size_bytes % payload_bytes:
            raise ValueError(
                f"a flow of {flow.size_bytes:,} B: flows for the {NAME} have whole packets of {payload_bytes:,} B"
            )


def _topology_text(topology: Topology) -> str:
    """Return a leaf-spine network as a topology file; tier 0 are the ToRs."""
    shape: Mapping[str, Any] = topology.parameters
    rate_gbps, hosts, spines = topology.links[0].rate_bps // NS_PER_S, shape["hosts_per_tor"], shape["spines"]
    lines = [f"Nodes {len(topology.host)}", "Tiers 2", f"Podsize {len(topology.host)}", "", "Tier 0"]
    lines += [f"Downlink_speed_Gbps {rate_gbps}", f"Radix_Down {hosts}", f"Radix_Up {spines}"]
    lines += [f"Oversubscribed {hosts // spines}", f"Downlink_Latency_ns {shape['host_delay_ns']}", "", "Tier 1"]
    lines += [f"Downlink_speed_Gbps {rate_gbps}", f"Radix_Down {shape['tors']}"]
    return "\n".join([*lines, f"Downlink_Latency_ns {shape['fabric_delay_ns']}", ""])
