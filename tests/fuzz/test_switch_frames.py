# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Any frames on all ports of a switch, under every scheme, between control lines, with the C built for ASan and UBSan.

There is no bad access and no undefined behaviour, which would end the process. Frames leave on existing ports and are
not too long. Every received frame was sent, dropped for a reason, or consumed by the MAC.
"""

from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.request.schemes import RATE_CONTROLS, SCHEMES
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.targets.common.commands import PROGRAM, switch_commands
from sfc_testbed.topologies.model import Topology
from sfc_testbed.wire.addresses import parse_mac
from sfc_testbed.wire.constants import RECIRCULATION_PORT
from softswitch.build import build_library
from softswitch.engine import CommandError, SwitchEngine
from softswitch_tests.programs.steered import SANITIZED
from tests.fuzz.budget import batches
from tests.fuzz.control_words import control_line
from tests.fuzz.frames import Between, FrameMaker, damaged
from tests.fuzz.sanitizers import run_in_sanitizers

_STEPS = 500
_LONGEST_FRAME = 16_384
_SAMPLE_NS = 1_000_000
_MOST_EVENTS = 20_000
_LONGEST_DRAIN_NS = 10_000_000_000
_SMALL_QUEUES = ("switch.q_th_bytes=3000", "switch.q_tg_bytes=1500", "switch.deployment=all")
_SMALL_BUFFER = ("switch.buffer_bytes=20000",)
_REFUSED = ("ndp+hpcc",)
_SCHEMES = tuple(
    name for scheme in SCHEMES for suffix in RATE_CONTROLS if (name := f"{scheme}+{suffix}") not in _REFUSED
)


@pytest.mark.skipif(SANITIZED, reason="this is the run in the sanitizers")
@pytest.mark.long
def test_switch_frames_in_the_sanitizers() -> None:
    run_in_sanitizers("-s", Path(__file__))


@cache
def _plan(scheme: str, settings: tuple[str, ...]) -> RunPlan:
    words = ("degree=2", "message_bytes=2000", "topology.hosts_per_tor=4", *settings)
    return plan_run(RunSpec("incast", scheme=scheme, clock="virtual", dilation=1000, settings=parse_settings(words)))


def _makers(random: Random, topology: Topology) -> list[FrameMaker]:
    """Return makers for three pairs of hosts; the last two pairs have the same receiver."""
    hosts = random.sample(topology.hosts, 4)
    pairs = ((hosts[0], hosts[1]), (hosts[2], hosts[3]), (hosts[1], hosts[3]))
    return [
        FrameMaker(random, Between(parse_mac(a.mac), parse_mac(a.gateway_mac), int(a.ip), int(b.ip)), 8)
        for a, b in pairs
    ]


@pytest.mark.skipif(not SANITIZED, reason="runs in the sanitizers only")
@given(number=st.integers(0, 2**63 - 1))
@batches(25)
def test_a_switch_survives_any_frames(number: int) -> None:
    print(f"batch {number}", flush=True)  # a sanitizer prints its message after it and ends the process
    random = Random(number)
    settings = (*_SMALL_QUEUES, *(_SMALL_BUFFER if random.random() < 0.5 else ()))
    plan = _plan(random.choice(_SCHEMES), settings)
    makers = _makers(random, plan.topology)
    has_commands = random.random() < 0.3
    with SwitchEngine(build_library(PROGRAM, sanitize=True), seed=1, sample_ns=_SAMPLE_NS) as engine:
        engine.commands(switch_commands(plan, random.choice(("tor1", "spine1"))))
        now_ns, frames = 0, 0
        for _ in range(_STEPS):
            if has_commands and random.random() < 0.05:
                _command(engine, control_line(random))
                continue
            frame = random.choice(makers).frame()
            if random.random() < 0.5:
                frame = damaged(frame, random)
            port = random.choice((*range(1, 10), *range(1, 10), 0, 77, RECIRCULATION_PORT - 1))
            now_ns += random.choice((0, 0, 1, 500, 1_000, 80_000, 1_000_000))
            frames += 1
            for departure in engine.step(port, frame, now_ns):
                _check_departure(*departure)
        _drain(engine, now_ns)
        engine.telemetry()
        engine.command("digest_read")
        if not has_commands:
            _check_balance(engine.statistics(), frames)


def _drain(engine: SwitchEngine, now_ns: int) -> None:
    """Run until nothing is left to do; a control line may have made a port too slow for that."""
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
        assert "\n" not in str(error)


def _check_departure(port: int, due_ns: int, frame: bytes) -> None:
    assert 0 <= port < RECIRCULATION_PORT
    assert due_ns >= 0
    assert 0 < len(frame) <= _LONGEST_FRAME


def _check_balance(counted: dict[str, Any], frames: int) -> None:
    copies = counted["ingress_clones"] + counted["egress_clones"] + counted["multicast_copies"]
    ends = (
        counted["tx_packets"]
        + sum(counted["drops"].values())
        + counted["pause_frames"]
        + counted["mac_control_ignored"]
    )
    assert frames + copies == ends + counted["queued_packets"], counted
    assert (counted["queued_packets"], counted["buffer_bytes"]) == (0, 0)
