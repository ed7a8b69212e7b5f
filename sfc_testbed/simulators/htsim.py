# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""htsim (`htsim_swift` of csg-htsim): its flows written from a plan, and the lines about finished flows read back.

It simulates Swift on a fat tree whose links all have a delay of 1 us and one rate. Its constants are compiled in. All
flows have one size, start at time 0, and are the only flow between their hosts. It writes no table of its queues.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sfc_testbed.simulators.comparison import PeerFlow
from sfc_testbed.simulators.hpcc import check_load_balancing
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.wire.roce.packets import data_frame_bytes

NAME, VARIABLE = "htsim", "SFC_TESTBED_HTSIM"
"""The simulator's name, and the environment variable with the path of its program `htsim_swift`."""
SCHEMES: tuple[str, ...] = ("irn+swift",)
FCT_FILE, FCT_MARK = "output.txt", " finished at "
_FLOWS = "flows.cm"

_K = 8
_LINK_DELAY_NS = 1_000
NETWORK = (
    f"topology.pods={_K}",
    *(f"topology.{name}={_K // 2}" for name in ("tors_per_pod", "aggs_per_pod", "cores_per_plane", "hosts_per_tor")),
    "topology.fabric_rate_bps=100000000000",
    f"topology.fabric_delay_ns={_LINK_DELAY_NS}",
    f"topology.host_delay_ns={_LINK_DELAY_NS}",
)
"""The settings of the topology `three-tier` that make a fat tree of 128 hosts."""
_COMPILED: Mapping[str, object] = {
    "base_target_ns": 20_000,
    "hop_target_ns": 0,
    "flow_range_ns": 100_000,
    "flow_min_packets": 0.1,
    "flow_max_packets": 100.0,
    "additive_packets": 1.0,
    "beta": 0.8,
    "max_decrease": 0.5,
    "timeouts_to_minimum": 5,
}
"""The constants of the program. It has a target for each hop, but a flow's route is a copy that has lost the number of
hops (`Route::clone`), so the target never counts any."""
PARAMETERS = 'transport.congestion_parameters={"hop_target_ns": 0, "initial_packets": 40}'
"""The setting without which a plan is refused."""
_QUEUE_PACKETS = 100_000
_LONGEST_US = 1_000_000
_FINISHED = re.compile(r"^Flow swift_(\d+)_(\d+) finished at (\S+) total bytes (\d+)$", re.MULTILINE)
_PACKET = re.compile(r"^mtu (\d+)$", re.MULTILINE)


def write_input(plan: RunPlan, program: str, folder: Path) -> list[str]:
    """Write the flows into a folder, and return the command to run there.

    Raises ValueError for what it does not simulate.
    """
    options = configuration(plan)
    (folder / _FLOWS).write_text(traffic_matrix(plan))
    return [program, *(str(word) for option in options.items() for word in option)]


def traffic_matrix(plan: RunPlan, *, starts_us: bool = False) -> str:
    """Return the flows in the format of htsim's traffic matrices, with start times in ps, or in us for htsim_uec."""
    flows = plan.columns
    rows = zip(*(column.tolist() for column in (flows.src, flows.dst, flows.start_ns, flows.size_bytes)), strict=True)
    lines = [
        f"{src}->{dst} start {start_ns // 1000 if starts_us else start_ns * 1000} size {size_bytes}"
        for src, dst, start_ns, size_bytes in rows
    ]
    return "\n".join([f"Nodes {len(plan.topology.hosts)}", f"Connections {len(lines)}", *lines, ""])


def finished_flows(table: str) -> Iterator[PeerFlow]:
    """Yield the finished flows of the program's output. A flow consists of full packets."""
    packet = _PACKET.search(table)
    frame_bytes = int(packet.group(1)) if packet else 0
    for src, dst, finish_us, sent_bytes in _FINISHED.findall(table):
        size_bytes = int(sent_bytes) // frame_bytes * (frame_bytes - data_frame_bytes(0, is_last=False))
        yield PeerFlow(int(src), int(dst), size_bytes, 0, round(1000 * float(finish_us)))


def configuration(plan: RunPlan) -> Mapping[str, object]:
    """Return the options of the command. Raise ValueError for what the program does not do."""
    transport, switch = plan.config.transport_settings, plan.config.switch_settings
    if (transport["congestion"], transport["flow_control"], switch["pfc"]) != ("swift", "none", False):
        raise ValueError(f"scheme {plan.config.scheme}: the comparison with {NAME} is of {' or '.join(SCHEMES)}")
    check_load_balancing(plan, NAME)
    _check_parameters(transport["congestion_parameters"])
    _check_network(plan)
    packets = _packets_of_a_flow(plan)
    return {
        "-nodes": len(plan.topology.host),
        "-tm": _FLOWS,
        "-cwnd": int(transport["congestion_parameters"]["initial_packets"]),
        "-flowsize": packets - 1,  # the program sends one packet more
        "-linkspeed": transport["line_rate_bps"] // 1_000_000,
        "-end": _LONGEST_US,
        "-q": _QUEUE_PACKETS,
        "-mtu": data_frame_bytes(transport["payload_bytes"], is_last=False),
        "-plb": "off",
    }


def _check_parameters(parameters: Mapping[str, Any]) -> None:
    for name, value in _COMPILED.items():
        if parameters[name] != value:
            raise ValueError(f"{name} {parameters[name]}: {NAME} has {value} built in; --set '{PARAMETERS}'")
    if parameters["initial_packets"] % 1:
        raise ValueError(f"initial_packets {parameters['initial_packets']}: {NAME} takes a whole number of packets")


def _check_network(plan: RunPlan) -> None:
    rates = {(link.rate_bps, link.delay_ns) for link in plan.topology.links}
    if plan.config.topology != "three-tier" or len(plan.topology.host) != _K**3 // 4 or len(rates) != 1:
        raise ValueError(f"{NAME} has a fat tree: --topology three-tier --set {' --set '.join(NETWORK)}")
    if plan.config.switch_settings["buffer_bytes"] is not None:
        raise ValueError(f"the queues of {NAME} are so long that they drop nothing: --set switch.buffer_bytes=null")


def _packets_of_a_flow(plan: RunPlan) -> int:
    """Return the number of packets of every flow. ValueError if the program cannot send these flows."""
    payload_bytes = plan.config.transport_settings["payload_bytes"]
    sizes = {flow.size_bytes for flow in plan.flows}
    if len(sizes) != 1 or (size_bytes := sizes.pop()) % payload_bytes or size_bytes == payload_bytes:
        raise ValueError(f"the flows of {NAME} have one size, of two or more whole packets of {payload_bytes:,} B")
    if any(flow.start_ns for flow in plan.flows):
        raise ValueError(f"all flows of {NAME} start at time 0: --set window_us=0")
    if len({(flow.src, flow.dst) for flow in plan.flows}) < len(plan.flows):
        raise ValueError(f"{NAME} names a flow by its hosts, so two hosts have one flow")
    return int(size_bytes // payload_bytes)
