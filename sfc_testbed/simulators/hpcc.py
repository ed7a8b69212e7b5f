# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The HPCC simulator (`third`): input files written from a plan, and its tables of flows and queues read back.

Rates, delays, payload, buffer and parameters are from the plan, whose scheme must be `pfc` with `+hpcc`, `+dcqcn`,
`+dcqcn-no-window`, `+dctcp` or `+timely`: the simulator has go-back-N and PFC. It derives window and base RTT from the
network, by itself, so a plan whose base RTT is another one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sfc_testbed.request.errors import UsageError
from sfc_testbed.scenarios.model.waiting import any_waits
from sfc_testbed.scenarios.traffic.hpcc_files import START_S, format_hpcc_flows
from sfc_testbed.simulators.comparison import PeerFlow, PeerQueues
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.physics import different_paths
from sfc_testbed.wire.units import NS_PER_S

NAME, VARIABLE = "HPCC simulator", "SFC_TESTBED_HPCC"
"""The simulator's name, and the environment variable with the path of its program `third`."""

SCHEMES: tuple[str, ...] = ("pfc+hpcc", "pfc+dcqcn", "pfc+dctcp", "pfc+timely")
FCT_FILE, FCT_MARK, QUEUE_FILE = "fct.txt", "", "queues.txt"
CONFIGURATION, TOPOLOGY, _FLOWS = "config.txt", "topology.txt", "flow.txt"
MIB = 1 << 20
_INT_UNIT_BPS = 25_000_000_000
_LONGEST_S = 10
"""Model time at which a simulation ends in which a flow hangs."""
_SAMPLE_NS = 100
_SAMPLED_NS = 100_000_000
"""The simulator samples queues this often, and writes the table only at multiples of this time."""
_FCT_COLUMNS = 8
_MOST_RTT_DIFFERENCE = 0.05
"""Largest difference between the simulator's base RTT and ours, as a share of ours: ours is rounded to two digits."""
Keys = Callable[[Mapping[str, object]], Mapping[str, object]]
"""A function from the parameters of a congestion control to keys of the configuration."""


def write_input(plan: RunPlan, program: str, folder: Path, *, has_queues: bool = False) -> list[str]:
    """Write the simulator's input into a folder, and return the command to run there.

    With `has_queues`, it samples all queues. Raises ValueError for a scheme that it does not simulate.
    """
    write_files(plan, configuration(plan, has_queues=has_queues), folder)
    return [program, CONFIGURATION]


def write_files(plan: RunPlan, settings: Mapping[str, object], folder: Path) -> None:
    """Write topology, flows and configuration into a folder."""
    (folder / TOPOLOGY).write_text(topology_text(plan.topology))
    (folder / _FLOWS).write_text(format_hpcc_flows(plan.flows))
    (folder / "trace.txt").write_text("0\n")
    (folder / CONFIGURATION).write_text("".join(f"{key} {value}\n" for key, value in settings.items()))


def finished_flows(table: str) -> Iterator[PeerFlow]:
    """Yield the rows of an FCT table. Raise ValueError for a line with other columns."""
    for columns in fct_rows(table):
        src, dst = (int(address, 16) >> 8 & 0xFFFF for address in columns[:2])
        size_bytes, start_ns, fct_ns = map(int, columns[4:7])
        yield PeerFlow(src, dst, size_bytes, start_ns - START_S * NS_PER_S, fct_ns)


def fct_rows(table: str) -> Iterator[list[str]]:
    """Yield the columns of each line of an FCT table. Raise ValueError if their number is wrong."""
    for line in table.splitlines():
        columns = line.split()
        if len(columns) != _FCT_COLUMNS:
            raise ValueError(f"not a line of an FCT table: {line[:100]!r}")
        yield columns


def queues_in(folder: Path) -> PeerQueues | None:
    """Return the queues that the simulator has sampled; None until it has written all of them."""
    return sampled_queues((folder / QUEUE_FILE).read_text())


def sampled_queues(text: str) -> PeerQueues | None:
    """Return the queues of a queue file; None until it has the table of the end of sampling.

    Each line of a table is a switch, a port, and how often its queue had 0, 1, 2, ... KB.
    """
    _, found, table = text.partition(f"time: {START_S * NS_PER_S + _SAMPLED_NS}\n")
    if not found or not table.endswith("\n"):
        return None
    peak_kb, kb_samples = 0, 0.0
    for line in table.splitlines():
        counts = [int(word) for word in line.split()[2:]]
        peak_kb = max(peak_kb, len(counts) - 1)
        kb_samples += sum((kb + 0.5) * count for kb, count in enumerate(counts) if kb)
    return PeerQueues(peak_kb * 1000, kb_samples * 1000 * _SAMPLE_NS)


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


def configuration(plan: RunPlan, *, has_queues: bool = False) -> Mapping[str, object]:
    """Return the configuration by key. Raise ValueError for what the simulator does not do.

    That is another scheme than `pfc` with one of its congestion controls, flows that wait for others, and faults.
    """
    return lossless_configuration(plan, NAME, CONGESTION, has_queues=has_queues)


def lossless_configuration(
    plan: RunPlan, name: str, controls: Mapping[str, Keys], *, has_queues: bool = False
) -> Mapping[str, object]:
    """Return the keys of a simulator with PFC and go-back-N. Raise ValueError for another scheme."""
    transport, switch = plan.config.transport_settings, plan.config.switch_settings
    if (transport["loss_recovery"], switch["pfc"]) != ("go-back-n", True):
        raise ValueError(f"scheme {plan.config.scheme}: the {name} does what pfc does with {suffixes(controls)}")
    check_load_balancing(plan, name)
    settings = common_configuration(plan, name, controls)
    if settings["HAS_WIN"]:
        _check_base_rtt(plan, name)
    stop_s = START_S + _LONGEST_S
    begin_ns = (START_S if has_queues else 2 * stop_s) * NS_PER_S
    return {
        "TOPOLOGY_FILE": TOPOLOGY,
        "FLOW_FILE": _FLOWS,
        "FCT_OUTPUT_FILE": FCT_FILE,
        "PFC_OUTPUT_FILE": "pfc.txt",
        "TRACE_FILE": "trace.txt",
        "TRACE_OUTPUT_FILE": "packets.tr",
        "ENABLE_TRACE": 0,
        "QLEN_MON_FILE": QUEUE_FILE,
        "QLEN_MON_START": begin_ns,
        "QLEN_MON_END": begin_ns + _SAMPLED_NS,
        "SIMULATOR_STOP_TIME": stop_s,
        "ACK_HIGH_PRIO": int(transport["ack_priority"] == "control"),
        **settings,
    }


def base_rtt_of_network_ns(topology: Topology, payload_bytes: int) -> int:
    """Return the base RTT that the simulator computes: delays both ways, and the time of one payload on each wire."""
    return max(
        sum(2 * link.delay_ns + payload_bytes * 8 * NS_PER_S // link.rate_bps for link in path)
        for path in different_paths(topology)
    )


def _check_base_rtt(plan: RunPlan, name: str) -> None:
    transport = plan.config.transport_settings
    ours_ns, theirs_ns = transport["base_rtt_ns"], base_rtt_of_network_ns(plan.topology, transport["payload_bytes"])
    if abs(theirs_ns - ours_ns) > _MOST_RTT_DIFFERENCE * ours_ns:
        raise ValueError(
            f"{plan.config.scenario}: the {name} computes a base RTT of {theirs_ns} ns from the network and "
            f"a payload of {transport['payload_bytes']} B, ours is {ours_ns} ns, so the windows differ; "
            f"add --set transport.base_rtt_ns={theirs_ns}, or use a payload of 1000 B"
        )


def check_load_balancing(plan: RunPlan, name: str) -> None:
    """Raise ValueError unless switches choose paths by ECMP, as the simulators do with our configurations."""
    if load_balancing_of(plan) != "ecmp":
        raise ValueError(f"load balancing {load_balancing_of(plan)}: the {name} has ecmp")


def load_balancing_of(plan: RunPlan) -> str:
    """Return the name of the load balancing of hosts or, if they send a flow on one path, of switches."""
    in_hosts = plan.config.transport_settings["load_balancing"]
    return str(plan.config.switch_settings["load_balancing"] if in_hosts == "flow" else in_hosts)


def common_configuration(plan: RunPlan, name: str, controls: Mapping[str, Keys]) -> Mapping[str, object]:
    """Return the keys that the simulators made from the HPCC simulator share. `controls` has the keys of each
    congestion control.

    Raise ValueError for what none of them does, and for a congestion control that is not in `controls`.
    """
    transport, switch = plan.config.transport_settings, plan.config.switch_settings
    if transport["congestion"] not in controls:
        raise ValueError(f"scheme {plan.config.scheme}: the {name} gets {suffixes(controls)} from us")
    if any_waits(plan.flows):
        raise ValueError(f"{plan.config.scenario}: the {name} has no flows that wait for others")
    if plan.faults:
        raise ValueError(f"{plan.config.scenario}: the {name} gets no faults from us")
    if switch["buffer_bytes"] is None:
        raise ValueError(f"{plan.config.scenario}: the {name} has no unlimited buffers")
    rates = plan.topology.link_rates_bps
    return {
        "PACKET_PAYLOAD_SIZE": transport["payload_bytes"],
        "BUFFER_SIZE": round(switch["buffer_bytes"] / MIB),
        "USE_DYNAMIC_PFC_THRESHOLD": 1,
        "INT_MULTI": transport["line_rate_bps"] // _INT_UNIT_BPS,
        "MULTI_RATE": 0,
        "SAMPLE_FEEDBACK": 0,
        "GLOBAL_T": 1,
        "RATE_BOUND": 1,
        "L2_CHUNK_SIZE": 4_000,
        "L2_ACK_INTERVAL": transport["ack_every"],
        "L2_BACK_TO_ZERO": 0,
        "ENABLE_QCN": 1,
        **controls[transport["congestion"]](transport["congestion_parameters"]),
        **_ecn(rates, switch),
    }


def suffixes(controls: Iterable[str]) -> str:
    """Return the names of congestion controls for a message, such as "+hpcc or +dcqcn"."""
    return " or ".join(f"+{name}" for name in controls)


def _hpcc(parameters: Mapping[str, object]) -> Mapping[str, object]:
    return {
        "CC_MODE": 3,
        "HAS_WIN": 1,
        "VAR_WIN": 1,
        "U_TARGET": parameters["eta"],
        "MI_THRESH": parameters["max_stage"],
        "RATE_AI": f"{parameters['additive_bps']}bps",
        "RATE_HAI": f"{parameters['additive_bps']}bps",
        "MIN_RATE": f"{parameters['min_rate_bps']}bps",
        "FAST_REACT": int(bool(parameters["fast_react"])),
    }


def _dcqcn(parameters: Mapping[str, object]) -> Mapping[str, object]:
    """Return the settings of DCQCN with a static window or none, in us where the simulator has no unit."""
    times = {
        "ALPHA_RESUME_INTERVAL": "alpha_interval_ns",
        "RATE_DECREASE_INTERVAL": "decrease_interval_ns",
        "RP_TIMER": "increase_interval_ns",
    }
    return {
        "CC_MODE": 1,
        "HAS_WIN": int(parameters["window_bytes"] != 0),
        "VAR_WIN": 0,
        **{key: int(str(parameters[name])) / 1000 for key, name in times.items()},
        "EWMA_GAIN": parameters["gain"],
        "FAST_RECOVERY_TIMES": parameters["fast_recovery_stages"],
        "RATE_AI": f"{parameters['additive_bps']}bps",
        "RATE_HAI": f"{parameters['hyper_bps']}bps",
        "MIN_RATE": f"{parameters['min_rate_bps']}bps",
        "CLAMP_TARGET_RATE": int(bool(parameters["clamp_target"])),
    }


def _dctcp(parameters: Mapping[str, object]) -> Mapping[str, object]:
    """Return the settings of DCTCP. RATE_AI, which it does not use, must be set."""
    return {
        "CC_MODE": 8,
        "HAS_WIN": 1,
        "VAR_WIN": 1,
        "EWMA_GAIN": parameters["gain"],
        "DCTCP_RATE_AI": f"{parameters['additive_bps']}bps",
        "RATE_AI": f"{parameters['additive_bps']}bps",
        "RATE_HAI": f"{parameters['additive_bps']}bps",
        "MIN_RATE": f"{parameters['min_rate_bps']}bps",
    }


def _timely(parameters: Mapping[str, object]) -> Mapping[str, object]:
    """Return the settings of TIMELY. Raise ValueError if the program is compiled with another value."""
    changed = [name for name, value in _TIMELY_COMPILED.items() if parameters[name] != value]
    if changed:
        raise ValueError(
            f"{changed[0]} {parameters[changed[0]]}: the {NAME} has {_TIMELY_COMPILED[changed[0]]} built in"
        )
    return {
        "CC_MODE": 7,
        "HAS_WIN": int(bool(parameters["has_window"])),
        "VAR_WIN": int(bool(parameters["has_window"])),
        "RATE_AI": f"{parameters['additive_bps']}bps",
        "RATE_HAI": f"{parameters['hyper_bps']}bps",
        "MIN_RATE": f"{parameters['min_rate_bps']}bps",
    }


_TIMELY_COMPILED = {
    "weight": 0.875, "beta": 0.8, "low_ns": 50_000, "high_ns": 500_000, "min_rtt_ns": 20_000, "hyper_after": 5,
}  # fmt: skip
CONGESTION: Mapping[str, Keys] = {"hpcc": _hpcc, "dcqcn": _dcqcn, "dctcp": _dctcp, "timely": _timely}


def _ecn(rates: Sequence[int], switch: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the ECN thresholds by link rate, in KB. HPCC ignores the marks, but each rate needs thresholds."""
    if switch.get("ecn_by_rate"):
        raise UsageError("ecn_by_rate: the files for the HPCC simulator have one threshold for all rates; leave it out")
    if switch["ecn_kmin_bytes"] is None:
        low, high, most = (
            {rate: 4 * rate // NS_PER_S for rate in rates},
            {rate: 16 * rate // NS_PER_S for rate in rates},
            0.2,
        )
    else:
        low = dict.fromkeys(rates, switch["ecn_kmin_bytes"] // 1000)
        high, most = dict.fromkeys(rates, switch["ecn_kmax_bytes"] // 1000), switch["ecn_pmax"]
    return {"KMIN_MAP": _map(low), "KMAX_MAP": _map(high), "PMAX_MAP": _map(dict.fromkeys(rates, most))}


def _map(values: Mapping[int, float]) -> str:
    return " ".join([str(len(values)), *(f"{rate} {value}" for rate, value in values.items())])
