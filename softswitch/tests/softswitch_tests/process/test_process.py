# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the switch as a process whose ports are sockets, which needs no interface and no privilege."""

import os
import resource
import signal
import socket
import subprocess
import sys
import textwrap
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scapy.utils import RawPcapReader

from softswitch.control import CommandError, ControlClient
from softswitch.engine import TELEMETRY_RECORD
from softswitch_tests.process.running import PATIENCE_S, NotReady, refusal, running, statistics
from softswitch_tests.programs.steered import Op, executable, report, steer


def test_commands_file_runs_before_the_first_frame(tmp_path: Path) -> None:
    """Rates and delays apply to the first frame: the second waits for the first one's transmission time."""
    commands = tmp_path / "commands"
    commands.write_bytes(b"\xef\xbb\xbfport_rate 2 800000 // 1000 B in 10 ms\r\n\r\n# a wire\r\nport_delay 2 1000")
    with running("--commands", commands) as switch:
        switch.send(1, steer(2, 1_000))
        switch.send(1, steer(2, 1_000))
        first, second = report(switch.receive(2)), report(switch.receive(2))
    assert second.deq_timedelta > 0
    assert second.egress_us - first.egress_us == 10_000


def test_frames_delayed_by_an_impaired_link_leave_on_time(tmp_path: Path) -> None:
    """Departures are sent in order of due time, not in the order in which they became known."""
    commands = tmp_path / "commands"
    commands.write_text("port_rate 2 8000000\nport_impair 2 out reorder rate_ppb=500000000 time_ns=60000000 seed=1\n")
    with running("--commands", commands) as switch:
        for tag in range(20):
            switch.send(1, steer(2, 1_000, tag=tag))
        tags = [switch.receive(2)[-1] for _ in range(20)]
        assert switch.stop() == (0, "")
    assert tags != sorted(tags) == list(range(20))
    descents = [tag for before, tag in pairwise(tags) if tag < before]
    assert len(descents) == 1  # the delayed frames come after all others, in order


def test_departures_are_never_early(tmp_path: Path) -> None:
    counters = tmp_path / "statistics"
    with running("--statistics", counters) as switch:
        for tag in range(50):
            switch.send(1, steer(2, tag=tag))
        for _ in range(50):
            switch.receive(2)
        assert switch.stop() == (0, "")
    lateness = statistics(counters)["lateness"]
    assert lateness["departures"]["count"] == 50
    assert lateness["ingress"]["count"] == 50
    assert 0 <= lateness["departures"]["p50_ns"] <= lateness["departures"]["p99_ns"]
    assert lateness["departures"]["p99_ns"] <= lateness["departures"]["max_ns"]


def test_spacing_is_measured_where_frames_leave(tmp_path: Path) -> None:
    """A frame counts only if it queued behind another; a frame after an idle wire does not."""
    counters, commands = tmp_path / "statistics", tmp_path / "commands"
    commands.write_text("port_rate 2 80000\n")  # 1000 B take 100 ms, time enough to send three
    with running("--commands", commands, "--statistics", counters) as switch:
        for _ in range(3):
            switch.send(1, steer(2, 1_000))
        sizes = {len(switch.receive(2)) for _ in range(3)}
        time.sleep(0.01)
        switch.send(1, steer(2, 1_000))
        switch.receive(2)
        assert switch.stop() == (0, "")
    spacing = statistics(counters)["spacing"]
    assert sizes == {1_000}
    assert (spacing["count"], spacing["ideal_ns"]) == (2, 100_000_000)
    assert 0 <= spacing["p50_ns"] <= spacing["p99_ns"] <= spacing["max_ns"]


def test_departures_of_a_window_leave_together(tmp_path: Path) -> None:
    """Frames of one call have no spacing at all, so most pairs deviate by the millisecond that a frame takes."""
    counters, commands = tmp_path / "statistics", tmp_path / "commands"
    commands.write_text("port_rate 2 8000000\nport_delay 2 500000000\n")
    with running("--commands", commands, "--statistics", counters, "--window-ns", "60000000") as switch:
        for _ in range(20):
            switch.send(1, steer(2, 1_000))
        assert [len(switch.receive(2)) for _ in range(20)] == [1_000] * 20
        assert switch.stop() == (0, "")
    spacing = statistics(counters)["spacing"]
    assert spacing["count"] == 19
    assert spacing["p50_ns"] >= 1_000_000


def test_control_socket_is_private_to_its_user(tmp_path: Path) -> None:
    """A process that can connect controls the switch, so the umask must not matter."""
    path = tmp_path / "control"
    before = os.umask(0)
    try:
        with running("--control", path):
            assert path.stat().st_mode & 0o777 == 0o600
    finally:
        os.umask(before)


def test_control_socket_answers(tmp_path: Path) -> None:
    path = tmp_path / "control"
    with running("--control", path) as switch:
        with ControlClient(path) as first, ControlClient(path) as second:
            assert first.command("mirroring_add 5 2") == ""
            assert second.command("mirroring_get 5") == "port=2"
            assert len(first.command("help").splitlines()) > 40
            with pytest.raises(CommandError, match="port_rate: port '9' has no interface"):
                first.command("port_rate 9 1000")
            assert first.command("# nothing") == ""
        assert switch.stop() == (0, "")
    assert not path.exists()


def test_many_commands_are_answered_one_by_one(tmp_path: Path) -> None:
    """The commands and their answers are larger than the buffers of the socket, and a refused command ends nothing."""
    path = tmp_path / "control"
    lines = ["mirroring_add 7 2", "port_rate 9 1000", "mirroring_get 7", "help", "# nothing"]
    with running("--control", path), ControlClient(path) as client:
        [added, refused, shown, help_text, nothing] = client.commands(lines)
        assert (added, shown, nothing) == ("", "port=2", "")
        assert isinstance(refused, CommandError) and isinstance(help_text, str)
        assert len(help_text.splitlines()) > 40
        assert client.commands(["help"] * 5_000) == [help_text] * 5_000
        assert client.commands([]) == []
        with pytest.raises(CommandError, match="one line"):
            client.commands(["help", "help\nhelp"])
        assert client.command("mirroring_get 7") == "port=2"


def test_dead_switches_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "control"
    with running("--control", path) as dead:
        dead.process.kill()
        dead.process.wait()
    assert path.exists()
    with running("--control", path):
        with pytest.raises(NotReady, match="Address already in use"), running("--control", path):
            pass
        with ControlClient(path) as client:
            assert "fd:" in client.command("show_ports")


def test_telemetry_file_is_complete_at_the_end(tmp_path: Path) -> None:
    rows, commands = tmp_path / "telemetry", tmp_path / "commands"
    commands.write_text("port_rate 2 800000\n")
    with running("--commands", commands, "--telemetry", rows, "--sample-ns", "1000000") as switch:
        for _ in range(5):
            switch.send(1, steer(2, 1_000, class_=3))
        for _ in range(5):
            switch.receive(2)
        assert switch.stop() == (0, "")
    table = np.fromfile(rows, TELEMETRY_RECORD)
    whole = table[table["port"] == -1]
    assert np.array_equal(np.diff(whole["time_ns"]), np.full(len(whole) - 1, 1_000_000))
    queue = table[(table["port"] == 2) & (table["class"] == 3)]
    assert 3_000 <= queue["high_water_bytes"].max() <= 4_000
    assert whole["high_water_bytes"].max() == queue["high_water_bytes"].max()


def test_telemetry_write_error_is_reported_at_the_end() -> None:
    with running("--telemetry", "/dev/full", "--sample-ns", "10000") as switch:
        switch.send(1, steer(2, 100))
        switch.receive(2)
        assert switch.stop() == (1, "softswitch: could not write its files: No space left on device\n")


def test_file_size_limit_is_reported_at_the_end(tmp_path: Path) -> None:
    """`ulimit -f` sends a signal that would otherwise end the switch without a message."""
    rows = tmp_path / "telemetry"
    with running("--telemetry", rows, "--sample-ns", "100000") as switch:
        resource.prlimit(switch.process.pid, resource.RLIMIT_FSIZE, (64, 64))
        for _ in range(3):
            switch.send(1, steer(2, 100))
            switch.receive(2)
        assert switch.stop() == (1, "softswitch: could not write its files: File too large\n")


def test_interrupt_is_a_clean_stop(tmp_path: Path) -> None:
    counters = tmp_path / "statistics"
    with running("--statistics", counters) as switch:
        switch.process.send_signal(signal.SIGINT)
        assert switch.process.wait(PATIENCE_S) == 0
    assert statistics(counters)["rx_packets"] == 0


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ((), "no port"),
        (("-i", "1"), "'1' is not PORT@IFACE"),
        (("-i", "x@lo"), "'x@lo'"),
        (("-i", "512@lo"), "above 511"),
        (("-i", "1@lo", "-i", "1@lo"), "twice"),
        (("-i", "1@no-such-interface"), "no interface 'no-such-interface'"),
        (("-i", "1@fd:77"), "'fd:77' is not an open"),
        (("-i", "1@fd:1", "--seed", "many"), "'many' is not a number"),
        (("-i", "1@fd:1", "--telemetry", "x"), "--sample-ns"),
        (("-i", "1@fd:1", "--telemetry", "x", "--sample-ns", "9", "--link-sample-ns", "10"), "--link-sample-ns"),
        (("-i", "1@fd:1", "--lateness", "x"), "--lateness needs --lateness-ns"),
        (("-i", "1@fd:1", "--window-ns", "-1"), "'-1' is not a number"),
        (("-i", "1@fd:1", "what"), "'what'"),
        (("--frobnicate",), "frobnicate"),
    ],
)
def test_bad_option_is_one_line(arguments: tuple[str, ...], wrong: str) -> None:
    text = refusal(*arguments)
    assert wrong in text
    assert text.count("\n") == 1


def test_switch_dies_with_its_parent() -> None:
    script = f"""
        import os, socket, subprocess, sys
        outer = socket.socket(fileno=int(sys.argv[1]))
        subprocess.Popen(
            [{str(executable())!r}, "-i", f"1@fd:{{outer.fileno()}}", "--die-with-parent"],
            pass_fds=[outer.fileno()], stdout=sys.stdout,
        )
        outer.close()
        sys.stdin.read()
    """
    test_end, child_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with test_end:
        parent = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(script), str(child_end.fileno())],
            pass_fds=[child_end.fileno()],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        child_end.close()
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        parent.kill()
        test_end.settimeout(PATIENCE_S)
        assert test_end.recv(1) == b""
        parent.communicate()


def test_process_is_clean_in_the_sanitizers(tmp_path: Path) -> None:
    control, rows = tmp_path / "control", tmp_path / "telemetry"
    files = ("--control", control, "--telemetry", rows, "--sample-ns", "1000000", "--statistics", tmp_path / "s")
    with running(*files, sanitize=True) as switch:
        with ControlClient(control) as client:
            for line in ("mirroring_add 5 1", "table_add routes drop 10.0.0.0/8 =>", "port_rate 2 8000000"):
                client.command(line)
            with pytest.raises(CommandError):
                client.command("table_add routes drop 10.0.0.0/99 =>")
        for tag in range(20):
            switch.send(1, steer(2, 500, tag=tag, ops=Op.CLONE_INGRESS, session=5))
        assert [switch.receive(2)[-1] for _ in range(20)] == list(range(20))
        assert [switch.receive(1)[-1] for _ in range(20)] == list(range(20))
        assert switch.stop() == (0, "")


def test_a_switch_that_does_not_start_leaves_nothing_behind(tmp_path: Path) -> None:
    commands, nowhere = tmp_path / "commands", tmp_path / "nowhere"
    commands.write_text("mirroring_add 1 2\ntable_add nowhere drop 1 =>\n")
    files = ("--telemetry", tmp_path / "t", "--sample-ns", "5", "--lateness-ns", "9")
    for options, wrong in (
        (("--commands", commands, "--control", tmp_path / "c"), "commands:2: table_add: no table 'nowhere'"),
        (("--pcap", nowhere), f"cannot write capture '{nowhere}/"),
        (("--lateness", nowhere / "late"), "nowhere/late"),
        (("--pcap", tmp_path, "--lateness", tmp_path / "l", "--control", nowhere / "c"), "cannot listen on"),
    ):
        with pytest.raises(NotReady, match=wrong), running(*files, *options):
            pass
        assert [path.name for path in tmp_path.iterdir()] == ["commands"]


def _captured(path: Path) -> list[tuple[int, bytes]]:
    """Return (time in ns, bytes) of each frame, read by scapy."""
    with RawPcapReader(str(path)) as file:
        assert (file.nano, file.linktype) == (True, 1)
        return [(meta.sec * 10**9 + meta.usec, bytes(frame)) for frame, meta in file]


def test_capture_holds_the_frames_of_each_port(tmp_path: Path) -> None:
    sent = [steer(2, tag=tag) for tag in range(3)]
    with running("--pcap", tmp_path) as switch:
        for frame in sent:
            switch.send(1, frame)
        received = [switch.receive(2) for _ in sent]
        assert switch.stop() == (0, "")
    incoming, outgoing = ([_captured(path) for path in tmp_path.glob(f"*_{way}.pcap")] for way in ("in", "out"))
    assert (sorted(map(len, incoming)), sorted(map(len, outgoing))) == ([0, 3], [0, 3])
    inwards, outwards = (max(files, key=len) for files in (incoming, outgoing))
    assert [frame for _, frame in inwards] == sent
    assert [frame for _, frame in outwards] == received
    assert all(before < after for (before, _), (after, _) in zip(inwards, outwards, strict=True))
