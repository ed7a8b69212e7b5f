# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that a switch reads the rates of all queueing disciplines that Mininet's TCLink makes."""

import subprocess

import pytest

from softswitch_tests.marks import needs_tc
from softswitch_tests.process.running import PATIENCE_S
from softswitch_tests.programs import steered

HTB = "root handle 5: htb default 1; tc class add dev port parent 5: classid 5:1 htb rate {} burst 15k"
TBF = "root handle 5: tbf rate {} burst 15000 latency 10ms"
HFSC = "root handle 5: hfsc default 1; tc class add dev port parent 5: classid 5:1 hfsc sc rate {} ul rate {}"
UNKNOWN_KIND = "qdisc kind is unknown"


def first_lines(discipline: str) -> list[str]:
    """Start a switch on an interface of a new network namespace and return its output up to `ready`."""
    script = f"set -e; ip link add port type veth peer name far; tc qdisc add dev port {discipline}; "
    command = ["unshare", "--net", "sh", "-c", script + f"exec '{steered.executable()}' -i 7@port --follow-links"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as switch:
        try:
            assert switch.stdout is not None
            lines: list[str] = []
            while not lines or lines[-1] != "ready":
                line = switch.stdout.readline()
                if not line:
                    errors = switch.communicate(timeout=PATIENCE_S)[1]
                    if UNKNOWN_KIND in errors:
                        pytest.skip(f"the kernel lacks the queueing discipline of '{discipline}'")
                    raise AssertionError(errors)
                lines.append(line.rstrip("\n"))
        finally:
            switch.kill()
    return lines


@needs_tc
@pytest.mark.parametrize(
    ("discipline", "rate_bps"),
    [
        (HTB.format("10Mbit"), 10_000_000),
        (HTB.format("100Gbit"), 100_000_000_000),
        (TBF.format("3Mbit"), 3_000_000),
        (HFSC.format("2Mbit", "2Mbit"), 2_000_000),
    ],
    ids=["htb", "htb-64-bit", "tbf", "hfsc"],
)
def test_rate_is_read(discipline: str, rate_bps: int) -> None:
    wanted = f"port 7 (port): {rate_bps} bits/s, 0 ns of delay, 64 packets a queue, from tc"
    assert first_lines(discipline) == [wanted, "ready"]


@needs_tc
def test_delay_of_netem_is_read_without_a_limit_of_queues() -> None:
    assert first_lines("root netem delay 5ms") == ["port 7 (port): 0 bits/s, 5000000 ns of delay, from tc", "ready"]


@needs_tc
def test_other_disciplines_have_no_rate() -> None:
    assert first_lines("root pfifo limit 10") == ["ready"]
