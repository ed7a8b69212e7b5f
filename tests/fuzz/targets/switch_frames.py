# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Frames on all ports of a switch, with every scheme, between control lines; the C code is built with ASan and UBSan.

Requirements: there are no invalid memory accesses and no undefined behaviour, which would end the process. Frames leave
existing ports with valid lengths. Every frame leaves, is dropped with a reason, or is for the MAC.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

from analysis.results.spec import RunSpec
from scenarios.schemes import CONGESTION_SUFFIXES, SCHEMES
from softswitch.build import build_library
from softswitch.engine import CommandError, SwitchEngine
from testbed.plan.plan import RunPlan, plan_run
from testbed.plan.settings import parse_settings
from testbed.targets.common.commands import PROGRAM, switch_commands
from tests.fuzz.target import STEPS, Case, Finding, Target
from tests.fuzz.targets.control_words import control_line
from tests.fuzz.targets.frames import Between, FrameMaker, damaged
from topologies.model import Topology
from wire.addresses import parse_mac
from wire.constants import RECIRCULATION_PORT

_STEPS = 500
_SWITCHES = ("tor1", "spine1")
_LONGEST_FRAME = 16_384
_SAMPLE_NS = 1_000_000
_MOST_EVENTS = 20_000
_LONGEST_DRAIN_NS = 10_000_000_000
_SMALL_QUEUES = ("switch.q_th_bytes=3000", "switch.q_tg_bytes=1500", "switch.deployment=all")
_SMALL_BUFFER = ("switch.buffer_bytes=20000",)
_REFUSED = ("ndp+hpcc",)
_SCHEMES = tuple(
    name for scheme in SCHEMES for suffix in CONGESTION_SUFFIXES if (name := f"{scheme}+{suffix}") not in _REFUSED
)


@cache
def _plan(scheme: str, settings: tuple[str, ...]) -> RunPlan:
    words = ("degree=2", "message_bytes=2000", "topology.hosts_per_tor=4", *settings)
    return plan_run(RunSpec("incast", scheme=scheme, clock="virtual", dilation=1000, settings=parse_settings(words)))


def _case(number: int) -> Case:
    """Return a batch generated from a seed."""
    random = Random(number)
    scheme = random.choice(_SCHEMES)
    settings = (*_SMALL_QUEUES, *(_SMALL_BUFFER if random.random() < 0.5 else ()))
    makers = _makers(random, _plan(scheme, settings).topology)
    disturbed = random.random() < 0.3
    steps: list[list[Any]] = []
    for _ in range(_STEPS):
        if disturbed and random.random() < 0.05:
            steps.append(["command", control_line(random)])
            continue
        maker = random.choice(makers)
        frame = maker.frame()
        if random.random() < 0.5:
            frame = damaged(frame, random)
        port = random.choice((*range(1, 10), *range(1, 10), 0, 77, RECIRCULATION_PORT - 1))
        wait_ns = random.choice((0, 0, 1, 500, 1_000, 80_000, 1_000_000))
        steps.append(["frame", wait_ns, port, frame.hex()])
    return {"scheme": scheme, "settings": list(settings), "switch": random.choice(_SWITCHES), STEPS: steps}


def _makers(random: Random, topology: Topology) -> list[FrameMaker]:
    """Return generators of frames for three pairs of hosts; the last two pairs share a receiver."""
    hosts = random.sample(topology.hosts, 4)
    pairs = ((hosts[0], hosts[1]), (hosts[2], hosts[3]), (hosts[1], hosts[3]))
    return [
        FrameMaker(random, Between(parse_mac(a.mac), parse_mac(a.gateway_mac), int(a.ip), int(b.ip)), 8)
        for a, b in pairs
    ]


def _check(case: Case) -> int:
    plan = _plan(case["scheme"], tuple(case["settings"]))
    with SwitchEngine(build(), seed=1, sample_ns=_SAMPLE_NS) as engine:
        for line in switch_commands(plan, case["switch"]):
            engine.command(line)
        now_ns, frames, disturbed = 0, 0, False
        for step in case[STEPS]:
            if step[0] == "command":
                disturbed = True
                _command(engine, step[1])
                continue
            now_ns += step[1]
            frames += 1
            for departure in engine.step(step[2], bytes.fromhex(step[3]), now_ns):
                _check_departure(*departure)
        _drain(engine, now_ns)
        engine.telemetry()
        engine.digests()
        if not disturbed:
            _check_balance(engine.statistics(), frames)
    return frames


def _drain(engine: SwitchEngine, now_ns: int) -> None:
    """Advance the switch until it has no events soon; a control line may have made a port too slow to empty."""
    for _ in range(_MOST_EVENTS):
        due_ns = engine.next_timer_ns()
        if due_ns is None or due_ns > now_ns + _LONGEST_DRAIN_NS:
            return
        for departure in engine.advance(due_ns):
            _check_departure(*departure)


def _command(engine: SwitchEngine, line: str) -> None:
    try:
        engine.command(line.encode(errors="replace").decode())
    except CommandError as error:
        if "\n" in str(error):
            raise Finding("a refusal of more than one line", repr(str(error))) from error


def _check_departure(port: int, due_ns: int, frame: bytes) -> None:
    if not (0 <= port < RECIRCULATION_PORT and due_ns >= 0 and 0 < len(frame) <= _LONGEST_FRAME):
        raise Finding("a departure that cannot be", f"port {port}, {due_ns} ns, {len(frame)} B")


def _check_balance(counted: dict[str, Any], frames: int) -> None:
    copies = counted["ingress_clones"] + counted["egress_clones"] + counted["multicast_copies"]
    ends = (
        counted["tx_packets"]
        + sum(counted["drops"].values())
        + counted["pause_frames"]
        + counted["mac_control_ignored"]
    )
    if frames + copies != ends + counted["queued_packets"]:
        raise Finding("packets in and packets out differ", f"{frames} frames, {counted}")
    if counted["queued_packets"] or counted["buffer_bytes"]:
        raise Finding("a queue that never empties", f"{counted}")


@cache
def build() -> Any:
    """Return the switch library built with sanitizers, in softswitch's cache."""
    return build_library(PROGRAM, sanitize=True)


TARGET = Target(
    "switch-frames", "frame to a switch", _check, examples=25, batch=_case, is_sanitized=True, share=6, floor=730_000
)
