# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks before a start: free disk space, open files, and the memory and link rates of BMv2 switches.

*Memory of BMv2* (docs/bmv2.md). Each `simple_switch` needs memory for itself and for each port. Each queued packet of
any size needs 170 KB, for parsed headers and metadata of the program (measured with BMv2 1.15.5). The estimate of
queued bytes is on the high side. Each flow arrives at its sender's full line rate, limited to a window or IRN's cap.
The receivers' links drain the queues, and the switches hold at most their buffers.

*Rates of BMv2* are whole packets per second, so very slow clocks change the rates of links.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sfc_testbed.hosts.transport.algorithms import Algorithms, resolved
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.plan import RunPlan, agent_count
from sfc_testbed.testbed.system.limits import free_memory_bytes, raise_open_files
from sfc_testbed.testbed.targets.bmv2.slots import worst_rate_error
from sfc_testbed.wire.dilation import Dilation

_LEAST_FREE_BYTES = 50_000_000
_LONGEST_PATH_BYTES = 3_800
_SPARE_DESCRIPTORS = 40
_SPARE_OF_AGENT = 16
_BMV2_BYTES = 90_000_000
_BMV2_PORT_BYTES = 3_000_000
_BMV2_PACKET_BYTES = 170_000
_MOST_RATE_ERROR = 0.05
"""The largest allowed difference between figures of live and virtual runs (docs/fidelity.md)."""


def check_limits(plans: Sequence[RunPlan], out: Path) -> None:
    """Raise UsageError unless the runs can start, and raise the limit of open files as far as necessary."""
    raise_open_files(max(map(open_files, plans)), "the run")
    check_output(out)
    for plan in plans:
        if plan.config.clock == "real":
            with _named(plan):
                check_switch_limits(plan)


def check_rates(plan: RunPlan) -> None:
    """Raise UsageError if rates of links would be wrong at the dilation, once it is decided."""
    with _named(plan):
        _check_switch_rates(plan)


@contextmanager
def _named(plan: RunPlan) -> Iterator[None]:
    try:
        yield
    except UsageError as error:
        raise UsageError(f"{plan.config.scenario} {plan.config.scheme}: {error}") from error


def check_output(parent: Path) -> None:
    """Raise UsageError unless folders can be made in `parent` and some disk space is free there."""
    try:
        if len(os.fsencode(parent.absolute())) > _LONGEST_PATH_BYTES:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        existing = next(path for path in (parent, *parent.absolute().parents) if _is_there(path))
        with tempfile.TemporaryFile(dir=existing):
            free_bytes = shutil.disk_usage(existing).free
    except OSError as error:
        raise UsageError(f"--out {parent}: cannot write there: {error.strerror}") from error
    if free_bytes < _LEAST_FREE_BYTES:
        raise UsageError(
            f"--out {parent}: {free_bytes / 1e6:.1f} MB free on its file system, at least "
            f"{_LEAST_FREE_BYTES / 1e6:.0f} MB are needed; free some space or use another --out"
        )


def _is_there(path: Path) -> bool:
    """Return whether a path exists; a dangling link counts too, since no folder can be made with its name."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def open_files(plan: RunPlan) -> int:
    """Return the number of open files in the process of the run that has most.

    On the real clock the runner has 2 per node of Mininet, 3 per switch, 2 per agent and 4 per capture, and an agent
    has 4 per host (6 with programs). On the virtual clock there is one per capture.
    """
    captures = len(plan.captured)
    if plan.config.clock != "real":
        return _SPARE_DESCRIPTORS + captures
    hosts, switches = len(plan.topology.hosts), len(plan.topology.switches)
    agents = agent_count(hosts)
    runner = _SPARE_DESCRIPTORS + 2 * (hosts + switches) + 3 * switches + 2 * (agents + 2 * captures)
    agent = _SPARE_OF_AGENT + (6 if plan.has_programs else 4) * -(-hosts // agents)
    return max(runner, agent)


def check_switch_limits(plan: RunPlan) -> None:
    """Raise UsageError if the switches may need more than the free memory, or if the rates of links would be wrong."""
    if plan.config.switch != "bmv2":
        return
    needed_bytes, free_bytes = switch_memory_bytes(plan), free_memory_bytes()
    if needed_bytes > free_bytes:
        raise UsageError(
            f"{len(plan.topology.switches)} switches of --switch bmv2 may take {needed_bytes / 1e9:.1f} GB of memory, "
            f"{free_bytes / 1e9:.1f} GB are free; fewer of them, a smaller switch.buffer_bytes, or --switch soft"
        )
    _check_switch_rates(plan)


def _check_switch_rates(plan: RunPlan) -> None:
    if plan.config.switch != "bmv2":
        return
    error = worst_rate_error(plan.topology, plan.transport.payload_bytes, plan.dilation)
    if error > _MOST_RATE_ERROR:
        raise UsageError(
            f"--switch bmv2 at dilation {plan.config.dilation}: whole packets per second make the rate of some link "
            f"{100 * error:.0f} % wrong; use a smaller --dilation or --switch soft"
        )


def switch_memory_bytes(plan: RunPlan) -> int:
    """Return the memory of all the run's BMv2 switches."""
    ports = sum(len(switch_ports) for switch_ports in plan.topology.ports.values())
    base_bytes = _BMV2_BYTES * len(plan.topology.switches) + _BMV2_PORT_BYTES * ports
    return base_bytes + _BMV2_PACKET_BYTES * (most_waiting_bytes(plan) // plan.transport.payload_bytes)


def most_waiting_bytes(plan: RunPlan) -> int:
    """Return an upper bound of the bytes queued in all switches together."""
    flows: dict[str, list[Flow]] = defaultdict(list)
    for flow, start_ns in zip(plan.flows, plan.columns.start_ns.tolist(), strict=True):
        flows[flow.dst].append(replace(flow, start_ns=start_ns) if flow.after else flow)
    rates = {name: host.rate_bps / 8e9 for name, host in plan.topology.host.items()}
    cap_bytes, end_ns = _most_in_flight_bytes(plan), plan.config.duration_ms * 1e6
    waiting = sum(
        min(
            _highest_backlog(_arrivals(receiver_flows, rates, end_ns), rates[name]),
            sum(min(flow.size_bytes, cap_bytes) for flow in receiver_flows),
        )
        for name, receiver_flows in flows.items()
    )
    buffer_bytes = plan.switch_settings.buffer_bytes
    return waiting if buffer_bytes is None else min(waiting, buffer_bytes * len(plan.topology.switches))


def _arrivals(flows: Sequence[Flow], rates: Mapping[str, float], end_ns: float) -> Iterator[tuple[float, float]]:
    """Yield the changes of a receiver's arrival rate as (time in ns, change in bytes/ns), in order of time."""
    changes = []
    for flow in flows:
        rate = rates[flow.src]
        changes += [(flow.start_ns, rate), (min(flow.start_ns + flow.size_bytes / rate, end_ns), -rate)]
    yield from sorted(changes)


def _highest_backlog(arrivals: Iterable[tuple[float, float]], drained: float) -> int:
    """Return the largest backlog, in bytes, of a receiver whose link drains `drained` bytes/ns."""
    backlog = highest = arrival_rate = last_ns = 0.0
    for at_ns, change in arrivals:
        backlog = max(0.0, backlog + (arrival_rate - drained) * (at_ns - last_ns))
        highest, arrival_rate, last_ns = max(highest, backlog), arrival_rate + change, at_ns
    return round(highest)


def _most_in_flight_bytes(plan: RunPlan) -> int:
    """Return the most bytes that one flow has in flight: its first window, or IRN's cap."""
    settings = resolved(plan.transport)
    window_bytes = Algorithms(settings, Dilation()).new_congestion().window_bytes
    cap_packets = settings.loss_recovery_parameters.get("cap_packets", 0)
    return min(window_bytes, cap_packets * settings.payload_bytes) if cap_packets else window_bytes
