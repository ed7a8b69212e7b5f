# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of `softswitch/simple_switch`: the accepted and refused options of BMv2, and the start of the switch."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from softswitch.bmv2_command import REFUSED, REFUSED_OF_TARGET, read_options, switch_arguments
from softswitch.control import ControlClient
from softswitch_tests.pipeline.harness import PROGRAMS

EXECUTABLE = Path(__file__).resolve().parents[2] / "simple_switch"
BASIC = PROGRAMS / "basic.json"
PATIENCE_S = 200.0


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as caught:
        read_options(words)
    captured = capsys.readouterr()
    assert (caught.value.code, captured.out, captured.err.count("\n")) == (2, "", 1)
    assert captured.err.startswith("simple_switch: ")
    return captured.err


def until(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_options_of_mininet_classes_are_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    """Ports reach the switch. Mininet classes always request an event log, which only causes a warning."""
    general = (
        "-i 1@s1-eth1 --interface 2@s1-eth2 --pcap=pcaps --nanolog ipc:///tmp/bm-0-log.ipc --device-id 3 basic.json"
    )
    target = "--drop-port 511 --priority-queues 8 --max-mc-groups 10 --max-l1-entries 10 --max-l2-entries 10"
    options = read_options([*f"{general} --log-console -L off --log-flush".split(), "--", *target.split()])
    assert options.program == "basic.json"
    assert switch_arguments(options) == ["-i", "1@s1-eth1", "-i", "2@s1-eth2", "--pcap", "pcaps", "--follow-links"]
    assert capsys.readouterr().err == (
        "simple_switch: --nanolog ipc:///tmp/bm-0-log.ipc: ignored, because there is no event log\n"
    )


def test_options_of_the_switch_are_passed_on() -> None:
    own = ["--commands", "lines.txt", "--control", "socket", "--realtime"]
    port = ["-i", "0@veth0"]
    assert switch_arguments(read_options(["--pcap", *port, "basic.json"])) == [*port, "--pcap", ".", "--follow-links"]
    *first, last = switch_arguments(read_options([*port, "basic.json", *own]))
    assert (first, last) == ([*port, *own[:-1], "--follow-links"], "--realtime")


@pytest.mark.parametrize(
    ("words", "passed"),
    [
        ((), []),
        (("--log-level", "debug", "--log-flush"), []),
        (("--log-console",), ["--log", "trace"]),
        (("--log-file", "x", "-L", "debug", "--log-flush"), ["--log", "debug", "--log-flush"]),
        (("--log-console", "-L", "info"), []),
    ],
)
def test_packets_are_logged_to_a_given_place_from_level_debug_on(words: tuple[str, ...], passed: list[str]) -> None:
    assert switch_arguments(read_options(["basic.json", *words])) == ["--follow-links", *passed]


@pytest.mark.parametrize("option", REFUSED)
def test_unsupported_options_are_refused_with_a_reason(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "basic.json", option) == f"simple_switch: {option}: {REFUSED[option]}\n"
    assert refusal(capsys, f"{option}=x", "basic.json") == f"simple_switch: {option}: {REFUSED[option]}\n"


@pytest.mark.parametrize("option", REFUSED_OF_TARGET)
def test_unsupported_target_options_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Target options are recognised only after `--`."""
    assert refusal(capsys, "basic.json", "--", option).endswith(f"{option}: {REFUSED_OF_TARGET[option]}\n")
    assert "unrecognized arguments" in refusal(capsys, "basic.json", option)


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ((), "required: PROGRAM.json"),
        (("basic.json", "--frobnicate"), "unrecognized arguments: --frobnicate"),
        (("basic.json", "other.json"), "unrecognized arguments: other.json"),
        (("basic.json", "--log-console", "--log-file", "x"), "exclude each other"),
        (("basic.json", "--thrift-port", "70000"), "70000 is not a TCP port"),
        (("basic.json", "--device-id", "one"), "'one' is not a number"),
        (("basic.json", "-L", "loud"), "invalid choice: 'loud'"),
        (("basic.json", "--", "--drop-port", "5"), "the drop port is always 511"),
        (("basic.json", "--", "--priority-queues", "9"), "8 strict-priority queues"),
        (("basic.json", "--", "--max-mc-groups", "0"), "0 is too few"),
    ],
)
def test_wrong_options_are_one_line(words: tuple[str, ...], wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong in refusal(capsys, *words)


def test_without_a_server_a_thrift_port_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A switch must not forward with empty tables that no client can fill."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert "the Python package thriftpy2 is not installed" in refusal(capsys, "basic.json", "--thrift-port", "9090")


def test_command_becomes_the_switch(tmp_path: Path) -> None:
    outer, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    commands, control, log = tmp_path / "commands", tmp_path / "control", tmp_path / "switch.txt"
    commands.write_text("table_add ipv4_lpm ipv4_forward 10.0.0.0/8 => 02:00:00:00:00:09 1\n")
    words: list[str | Path] = ["-i", f"1@fd:{inner.fileno()}", "--commands", commands, "--control", control]
    command: list[str | Path] = [EXECUTABLE, *words, "--log-file", tmp_path / "switch", BASIC]
    with subprocess.Popen(command, cwd=tmp_path, pass_fds=[inner.fileno()]) as process, outer, inner:
        try:
            assert until(lambda: log.exists() and log.read_text() == "ready\n")
            outer.send(bytes(12) + b"\x12\x34")
            assert until(lambda: "[0.0] [cxt 0] Parser 'parser' entering state 'start'\n" in log.read_text())
            with ControlClient(control) as client:
                assert client.command("table_num_entries ipv4_lpm") == "1"
            assert Path(f"/proc/{process.pid}/exe").readlink().name.startswith("basic-")
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    assert not control.exists()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)])
def test_the_thrift_server_ends_with_the_switch_and_removes_its_socket(
    number: signal.Signals, status: int, tmp_path: Path
) -> None:
    """Python files in the current folder must not be imported by the server."""
    outer, inner = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    (tmp_path / "asyncio.py").write_text("raise SystemExit('taken from the folder')\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words: list[str | Path] = ["-i", f"1@fd:{inner.fileno()}", "--thrift-port", str(port), BASIC]
    with tempfile.TemporaryDirectory(prefix="sfc-", dir="/tmp") as name, outer, inner:  # a socket's name is short
        starting = subprocess.Popen(
            [sys.executable, EXECUTABLE, *words],
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": name},
            pass_fds=[inner.fileno()],
            stdout=subprocess.PIPE,
        )
        with starting as process:
            try:
                assert until(lambda: listens(port))
                assert [path.suffix for path in Path(name).iterdir()] == [".control"]
            finally:
                process.send_signal(number)
            assert process.wait(PATIENCE_S) == status
        assert until(lambda: not listens(port) and not list(Path(name).iterdir()))
