# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks limits of BMv2 switches in live runs: memory of the machine, and rates on a slow clock (docs/bmv2.md).

*Memory.* Each `simple_switch` needs memory for itself and for each port. Each queued packet of any size needs 170 KB,
for parsed headers and metadata of the program (measured with BMv2 1.15.5). The estimate of queued bytes is on the high
side. Each flow arrives at its sender's full line rate, limited to a window or IRN's cap. The receivers' links drain
the queues, and the switches hold at most their buffers.

*Rates.* BMv2 rates are whole packets per second, so very slow clocks change the rates of links.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from hosts.transport.algorithms import Algorithms, resolved
from scenarios.model.flow import Flow
from testbed.errors import UsageError
from testbed.plan.plan import RunPlan
from testbed.system.limits import check_memory
from testbed.targets.bmv2.slots import worst_rate_error
from wire.dilation import Dilation

_BMV2_BYTES = 90_000_000
_BMV2_PORT_BYTES = 3_000_000
_BMV2_PACKET_BYTES = 170_000
_MOST_RATE_ERROR = 0.05
"""The largest allowed difference between figures of live and virtual runs (docs/fidelity.md)."""


def switch_memory_bytes(plan: RunPlan) -> int:
    """Return the memory of all the run's switches; 0 for softswitch, which needs very little."""
    if plan.config.switch != "bmv2":
        return 0
    ports = sum(len(switch_ports) for switch_ports in plan.topology.ports.values())
    base_bytes = _BMV2_BYTES * len(plan.topology.switches) + _BMV2_PORT_BYTES * ports
    return base_bytes + _BMV2_PACKET_BYTES * (most_waiting_bytes(plan) // plan.transport.payload_bytes)


def check_switch_limits(plan: RunPlan) -> None:
    """Raise UsageError if the switches may need more than the free memory, or if the rates of links would be wrong."""
    if plan.config.switch != "bmv2":
        return
    label = f"{len(plan.topology.switches)} switches of --switch bmv2"
    check_memory(switch_memory_bytes(plan), label, "fewer of them, a smaller switch.buffer_bytes, or --switch soft")
    error = worst_rate_error(plan.topology, plan.transport.payload_bytes, plan.dilation)
    if error > _MOST_RATE_ERROR:
        raise UsageError(
            f"--switch bmv2 at dilation {plan.config.dilation}: whole packets per second make the rate of some link "
            f"{100 * error:.0f} % wrong; use a smaller --dilation or --switch soft"
        )


def most_waiting_bytes(plan: RunPlan) -> int:
    """Return an upper bound of the bytes queued in all switches together."""
    flows: dict[str, list[Flow]] = defaultdict(list)
    for flow, start_ns in zip(plan.flows, plan.columns.start_ns.tolist(), strict=True):
        flows[flow.dst].append(replace(flow, start_ns=start_ns) if flow.after else flow)
    rates = {name: host.rate_bps / 8e9 for name, host in plan.topology.host.items()}
    cap_bytes, end_ns = _most_in_flight_bytes(plan), plan.config.duration_ms * 1e6
    waiting = sum(
        min(_highest_backlog(_arrivals(receiver_flows, rates, end_ns), rates[name]), _capped(receiver_flows, cap_bytes))
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


def _capped(flows: Sequence[Flow], cap_bytes: int) -> int:
    return sum(min(flow.size_bytes, cap_bytes) for flow in flows)


def _most_in_flight_bytes(plan: RunPlan) -> int:
    """Return the most bytes that one flow has in flight: its first window, or IRN's cap."""
    settings = resolved(plan.transport)
    window_bytes = Algorithms(settings, Dilation()).new_congestion().window_bytes
    cap_packets = settings.loss_recovery_parameters.get("cap_packets", 0)
    return min(window_bytes, cap_packets * settings.payload_bytes) if cap_packets else window_bytes
