# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Records the input of a virtual run's switches: their links, their commands, and every frame that a host sent.

The frames come from the run's captures, so the recording does not depend on how hosts and switches are driven. Frames
that two hosts sent at the same instant are ordered by the hosts' numbers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench.instruments.simulated import run_whole
from bench.instruments.workload import write_lines
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.telemetry.captures.pcapng import Direction, read_capture
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.targets.common.commands import SAMPLE_NS, switch_commands
from softswitch.engine import ENTRY


def record_switches(request: RunSpec, folder: Path) -> tuple[str, str]:
    """Run the request and write the network and the frames for bench/programs/replay.c; return the two paths."""
    plan = plan_run(request)
    plan = plan_run(replace(request, captures=tuple(host.name for host in plan.topology.hosts)))
    with tempfile.TemporaryDirectory(prefix="sfc-bench-") as name:
        run_folder = Path(name)
        run_whole(plan, run_folder)
        sent = sorted(_sent(plan, run_folder / "pcaps"), key=lambda frame: frame[:2])
    frames = folder / "frames"
    with frames.open("wb") as file:
        for time_ns, _, switch, port, frame in sent:
            file.write(ENTRY.pack(time_ns, switch, port, len(frame), 0))
            file.write(frame)
    return write_lines(folder / "network", list(_network(plan))), str(frames)


def _sent(plan: RunPlan, pcaps: Path) -> Iterator[tuple[int, int, int, int, bytes]]:
    """Yield (time in ns, host number, switch index, port, frame) for each frame that a host sent."""
    switches = {switch.name: index for index, switch in enumerate(plan.topology.switches)}
    for number, host in enumerate(plan.topology.hosts):
        port = plan.topology.tor_port(host.name)
        for packet in read_capture(pcaps / f"{host.name}-eth0.pcapng"):
            if packet.direction is Direction.OUT:
                yield packet.time_ns, number, switches[port.node], port.number, packet.frame


def _network(plan: RunPlan) -> Iterator[str]:
    switches = {switch.name: index for index, switch in enumerate(plan.topology.switches)}
    for switch in plan.topology.switches:
        yield f"switch {plan.dilation.wall_ns(SAMPLE_NS)}"
        yield from switch_commands(plan, switch.name)
    for link in plan.topology.links:
        if link.a.node in switches and link.b.node in switches:
            yield f"link {switches[link.a.node]} {link.a.number} {switches[link.b.node]} {link.b.number}"
