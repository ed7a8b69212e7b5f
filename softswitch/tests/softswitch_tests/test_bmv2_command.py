# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of `softswitch/simple_switch`: the accepted and refused options of BMv2, and the start of the switch."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from softswitch.bmv2_command import REFUSED, REFUSED_OF_TARGET, read_options, switch_arguments
from softswitch.control import ControlClient
from softswitch_tests.pipeline.harness import PROGRAMS
from softswitch_tests.process.running import until

EXECUTABLE = Path(__file__).resolve().parents[2] / "simple_switch"
BASIC = PROGRAMS / "basic.json"
PATIENCE_S = 200.0
"""The time that a start may take, because the C compiler may run first."""

GENERAL: dict[str, tuple[str, ...]] = {
    words[0]: words
    for words in (
        ("-i", "1@veth1"),
        ("--interface", "1@veth1"),
        ("--pcap",),
        ("--use-files", "3"),
        ("--packet-in", "ipc:///tmp/in.ipc"),
        ("--thrift-port", "9090"),
        ("--device-id", "3"),
        ("--nanolog", "ipc:///tmp/log.ipc"),
        ("--log-console",),
        ("--log-file", "log"),
        ("-L", "debug"),
        ("--log-level", "debug"),
        ("--log-flush",),
        ("--log-file-max-size", "100"),
        ("--log-file-max-files", "2"),
        ("--debugger",),
        ("--debugger-addr", "ipc:///tmp/debug.ipc"),
        ("--restore-state", "state"),
        ("--dump-packet-data", "10000"),
        ("--no-p4",),
        ("--max-port-count", "512"),
    )
}
"""BMv2's options before `--`, each with a value if it takes one, except those that print something and end."""
OF_TARGET: dict[str, tuple[str, ...]] = {
    words[0]: words
    for words in (
        ("--load-modules", "x.so"),
        ("--enable-swap",),
        ("--drop-port", "511"),
        ("--priority-queues", "8"),
        ("--max-mc-groups", "5"),
        ("--max-l1-entries", "5"),
        ("--max-l2-entries", "5"),
    )
}
"""The options of BMv2's simple_switch after `--`."""


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as caught:
        read_options(words)
    captured = capsys.readouterr()
    assert (caught.value.code, captured.out, captured.err.count("\n")) == (2, "", 1)
    assert captured.err.startswith("simple_switch: ")
    return captured.err


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


@pytest.mark.parametrize("words", [words for option, words in GENERAL.items() if option not in REFUSED])
def test_an_option_of_bmv2_does_not_take_the_program_for_its_value(words: tuple[str, ...]) -> None:
    for line in ([*words, "basic.json"], ["basic.json", *words], [*words, "--", "basic.json"]):
        assert read_options(line).program == "basic.json"


@pytest.mark.parametrize("words", [words for option, words in OF_TARGET.items() if option not in REFUSED_OF_TARGET])
def test_a_target_option_of_bmv2_does_not_take_the_program_for_its_value(words: tuple[str, ...]) -> None:
    for line in (["basic.json", "--", *words], ["--", "basic.json", *words]):
        assert read_options(line).program == "basic.json"


@pytest.mark.parametrize(
    "words", [words for option, words in (GENERAL | OF_TARGET).items() if option in REFUSED | REFUSED_OF_TARGET]
)
def test_the_value_of_a_refused_option_is_not_taken_for_the_program(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    for line in ([*words, "basic.json"], ["basic.json", *words], ["basic.json", "--", *words]):
        if words[0] in OF_TARGET or "--" not in line:
            assert refusal(capsys, *line).startswith(f"simple_switch: {words[0]}: ")


@pytest.mark.parametrize(
    "words", [("-i0@veth0",), ("-i", "0@veth0"), ("--interface=0@veth0",), ("--interf", "0@veth0")]
)
def test_ports_are_read_in_every_form_of_bmv2(words: tuple[str, ...]) -> None:
    assert read_options([*words, "basic.json"]).interface == ["0@veth0"]


@pytest.mark.parametrize(
    ("words", "folder"), [(("--pcap",), "."), (("--pcap", "pcaps"), "pcaps"), (("--pcap=pcaps",), "pcaps")]
)
def test_a_folder_of_captures_may_be_missing(
    words: tuple[str, ...], folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pcaps").mkdir()
    options = read_options([*words, "basic.json"])
    assert (options.pcap, options.program) == (folder, "basic.json")


@pytest.mark.parametrize("option", REFUSED)
def test_unsupported_options_are_refused_with_a_reason(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "basic.json", option) == f"simple_switch: {option}: {REFUSED[option]}\n"
    assert refusal(capsys, f"{option}=x", "basic.json") == f"simple_switch: {option}: {REFUSED[option]}\n"


@pytest.mark.parametrize("option", REFUSED_OF_TARGET)
def test_unsupported_target_options_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "basic.json", "--", option).endswith(f"{option}: {REFUSED_OF_TARGET[option]}\n")
    assert refusal(capsys, option, "basic.json").endswith(f"{option}: {REFUSED_OF_TARGET[option]}\n")


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ((), "there is no program"),
        (("basic.json", "--frobnicate"), "--frobnicate: there is no such option"),
        (("--frobnicate", "x.so", "basic.json"), "--frobnicate: there is no such option"),
        (("--frobnicate=x.so", "basic.json"), "--frobnicate: there is no such option"),
        (("basic.json", "--", "--frobnicate", "x"), "--frobnicate: there is no such option"),
        (("basic.json", "--", "--disable-swap"), "--disable-swap: there is no such option"),
        (("--drop-port", "511", "basic.json"), "--drop-port: it is a target option; give it at the end, after --"),
        (("basic.json", "other.json"), "other.json: this word is neither an option nor the program"),
        (("basic.json", "--", "511"), "511: this word is neither an option nor the program"),
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
            assert until(lambda: log.exists() and log.read_text() == "ready\n", PATIENCE_S)
            outer.send(bytes(12) + b"\x12\x34")
            assert until(lambda: "[0.0] [cxt 0] Parser 'parser' entering state 'start'\n" in log.read_text())
            with ControlClient(control) as client:
                assert client.command("table_num_entries ipv4_lpm") == "1"
            assert Path(f"/proc/{process.pid}/exe").readlink().name.startswith("basic-")
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    assert not control.exists()


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, 0), (signal.SIGINT, 0), (signal.SIGHUP, 0), (signal.SIGKILL, -signal.SIGKILL)],
)
def test_the_thrift_server_ends_with_the_switch_and_removes_its_socket(
    number: signal.Signals, status: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Python files in the current folder must not be imported by the server."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup` lets the tests and so the switch ignore it
    request.addfinalizer(lambda: signal.signal(signal.SIGHUP, before))
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
            stderr=subprocess.PIPE,
        )
        with starting as process:
            try:
                assert until(lambda: listens(port), PATIENCE_S)
                assert [path.suffix for path in Path(name).iterdir()] == [".control"]
            finally:
                process.send_signal(number)
            assert process.wait(PATIENCE_S) == status
            assert process.stderr is not None
            assert process.stderr.read() == b"" or number == signal.SIGKILL
        assert until(lambda: not listens(port) and not list(Path(name).iterdir()))
