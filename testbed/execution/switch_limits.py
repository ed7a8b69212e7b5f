# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a machine and a clock must allow for the switches of a live run: asked of BMv2's (docs/bmv2.md).

*Memory.* Each `simple_switch` has its own, for every port some, and for every packet that waits 170 KB, whatever its
size: the parsed headers and metadata of the program (measured with BMv2 1.15.5). What may wait is reckoned too much
rather than too little: each flow comes at its sender's line rate as if that had no other, at most a window or IRN's cap
of it, the receivers' links drain them, and the switches hold no more than their buffers.

*Rates.* BMv2 takes whole packets per second, so that the slowest clocks change the links.
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
"""As much as a live run's figures may differ from a virtual one's (docs/fidelity.md)."""


def switch_memory_bytes(plan: RunPlan) -> int:
    """Of all switches together; 0 for those that take next to nothing."""
    if plan.config.switch != "bmv2":
        return 0
    ports = sum(len(each) for each in plan.topology.ports.values())
    own = _BMV2_BYTES * len(plan.topology.switches) + _BMV2_PORT_BYTES * ports
    return own + _BMV2_PACKET_BYTES * (most_waiting_bytes(plan) // plan.transport.payload_bytes)


def check_switch_limits(plan: RunPlan) -> None:
    """UsageError if the machine has less memory free than the run's switches may take, or its links would be others."""
    if plan.config.switch != "bmv2":
        return
    what = f"{len(plan.topology.switches)} switches of --switch bmv2"
    check_memory(switch_memory_bytes(plan), what, "fewer of them, a smaller switch.buffer_bytes, or --switch soft")
    error = worst_rate_error(plan.topology, plan.transport.payload_bytes, plan.dilation)
    if error > _MOST_RATE_ERROR:
        raise UsageError(
            f"--switch bmv2 at dilation {plan.config.dilation}: whole packets per second make the rate of some link "
            f"{100 * error:.0f} % wrong; use a smaller --dilation or --switch soft"
        )


def most_waiting_bytes(plan: RunPlan) -> int:
    """What may wait in the queues of all switches at most."""
    flows: dict[str, list[Flow]] = defaultdict(list)
    for flow, start_ns in zip(plan.flows, plan.columns.start_ns.tolist(), strict=True):
        flows[flow.dst].append(replace(flow, start_ns=start_ns) if flow.after else flow)
    rates = {name: host.rate_bps / 8e9 for name, host in plan.topology.host.items()}
    cap_bytes, end_ns = _most_in_flight_bytes(plan), plan.config.duration_ms * 1e6
    waiting = sum(
        min(_highest_backlog(_arrivals(each, rates, end_ns), rates[name]), _capped(each, cap_bytes))
        for name, each in flows.items()
    )
    buffer_bytes = plan.switch_settings.buffer_bytes
    return waiting if buffer_bytes is None else min(waiting, buffer_bytes * len(plan.topology.switches))


def _arrivals(flows: Sequence[Flow], rates: Mapping[str, float], end_ns: float) -> Iterator[tuple[float, float]]:
    """When by how many bytes/ns more, or less, come to a receiver, in order."""
    changes = []
    for flow in flows:
        rate = rates[flow.src]
        changes += [(flow.start_ns, rate), (min(flow.start_ns + flow.size_bytes / rate, end_ns), -rate)]
    yield from sorted(changes)


def _highest_backlog(arrivals: Iterable[tuple[float, float]], drained: float) -> int:
    """Of a receiver that takes so many bytes/ns."""
    backlog = highest = coming = last_ns = 0.0
    for at_ns, change in arrivals:
        backlog = max(0.0, backlog + (coming - drained) * (at_ns - last_ns))
        highest, coming, last_ns = max(highest, backlog), coming + change, at_ns
    return round(highest)


def _capped(flows: Sequence[Flow], cap_bytes: int) -> int:
    return sum(min(flow.size_bytes, cap_bytes) for flow in flows)


def _most_in_flight_bytes(plan: RunPlan) -> int:
    """Of one flow: its first window, or IRN's cap."""
    settings = resolved(plan.transport)
    window_bytes = Algorithms(settings, Dilation()).new_congestion().window_bytes
    cap_packets = settings.loss_recovery_parameters.get("cap_packets", 0)
    return min(window_bytes, cap_packets * settings.payload_bytes) if cap_packets else window_bytes
