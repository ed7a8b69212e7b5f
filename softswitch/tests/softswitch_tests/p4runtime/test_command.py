# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of `softswitch/simple_switch_grpc`: its options, its listeners in one process, and its end."""

import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import grpc
import psutil
import pytest

from softswitch.bmv2_options import REFUSED, REFUSED_OF_TARGET
from softswitch.p4runtime.command import REFUSED_OF_TARGET as OWN_REFUSED
from softswitch.p4runtime.command import read_options
from softswitch.p4runtime.messages import client_calls, v1
from softswitch_tests.p4runtime.controller import PATIENCE_S, Names, connected, exact, refused
from softswitch_tests.p4runtime.frames import EXACT, arrives
from softswitch_tests.p4runtime.running import EXECUTABLE, served
from softswitch_tests.pipeline.harness import PROGRAMS
from softswitch_tests.process.running import until
from softswitch_tests.thrift.clients import PortClient
from softswitch_tests.thrift.test_calls import exact as key_of
from softswitch_tests.thrift.test_calls import options

OPENSSL = shutil.which("openssl")


def refusal(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    with pytest.raises(SystemExit) as caught:
        read_options(words)
    captured = capsys.readouterr()
    assert (caught.value.code, captured.out, captured.err.count("\n")) == (2, "", 1)
    assert captured.err.startswith("simple_switch_grpc: ")
    return captured.err


def test_the_tutorials_options_are_accepted(capsys: pytest.CaptureFixture[str]) -> None:
    general = "-i 1@s1-eth1 --interface 2@s1-eth2 --pcap=pcaps --nanolog ipc:///tmp/log.ipc --device-id 1 --no-p4"
    more = "--log-console --thrift-port 9090 --dump-packet-data 10000 -L debug"
    target = "--grpc-server-addr 0.0.0.0:50051 --cpu-port 255 --priority-queues 8 --drop-port 511 --disable-swap"
    options = read_options([*f"{general} {more}".split(), "--", *target.split()])
    assert (options.interface, options.pcap, options.thrift_port) == (["1@s1-eth1", "2@s1-eth2"], "pcaps", 9090)
    assert (options.target.grpc_server_addr, options.target.cpu_port) == ("0.0.0.0:50051", 255)
    assert [line.split(": ")[1].split()[0] for line in capsys.readouterr().err.splitlines()] == [
        "--nanolog",
        "--dump-packet-data",
        "--grpc-server-addr",
    ]
    assert read_options(["--no-p4"]).target.grpc_server_addr == "127.0.0.1:9559"


@pytest.mark.parametrize("option", REFUSED)
def test_unsupported_options_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert refusal(capsys, "--no-p4", option).endswith(f"{option}: {REFUSED[option]}\n")


@pytest.mark.parametrize("option", [*REFUSED_OF_TARGET, *OWN_REFUSED])
def test_unsupported_target_options_are_refused(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f": {option}: " in refusal(capsys, "--no-p4", "--", option)


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        ("", "give either a program or --no-p4"),
        ("--no-p4 basic.json", "give either a program or --no-p4"),
        ("--no-p4 --commands x", "--commands needs a program"),
        ("--no-p4 --log-console --log-file x", "exclude each other"),
        ("--no-p4 -- --cpu-port 511", "a port is at most 510"),
        ("--no-p4 -i 9@x -- --cpu-port 9", "port 9 is the CPU port"),
        ("--no-p4 -- --grpc-server-addr 9559", "is not HOST:PORT"),
        ("--no-p4 -- --grpc-server-ssl", "needs --grpc-server-cert"),
        ("--no-p4 -- --grpc-server-cert x --grpc-server-key y", "give that too"),
        ("--no-p4 -- --grpc-server-with-client-auth", "needs --grpc-server-cacert"),
        ("--no-p4 -- --drop-port 5", "the drop port is always 511"),
    ],
)
def test_wrong_options_are_one_line(words: str, wrong: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert wrong in refusal(capsys, *words.split())


def run(*words: str | Path) -> tuple[int, str]:
    process = subprocess.run(
        [sys.executable, EXECUTABLE, *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    return process.returncode, process.stderr


def test_what_prevents_the_start_is_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        status, line = run("--no-p4", "--", "--grpc-server-addr", f"127.0.0.1:{port}")
        assert (status, line.count("\n")) == (2, 1)
        assert line.startswith(f"simple_switch_grpc: --grpc-server-addr 127.0.0.1:{port}: cannot listen there")
        status, line = run("--no-p4", "--thrift-port", port, "--", "--grpc-server-addr", "127.0.0.1:0")
        assert (status, line) == (2, f"simple_switch_grpc: --thrift-port {port}: Address already in use\n")
    status, line = run(tmp_path / "missing.json", "--", "--grpc-server-addr", "127.0.0.1:0")
    assert (status, line.count("\n")) == (2, 1)
    assert "missing.json" in line


def test_one_process_serves_both_protocols() -> None:
    """A Thrift client sees the program of the command line, then that of a P4Runtime client."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with served([PROGRAMS / "l3.json", "--thrift-port", str(port)]) as server:
        listeners = {connection.laddr.port for connection in psutil.Process(server.process.pid).net_connections()}
        assert {port, int(server.address.rpartition(":")[2])} <= listeners
        thrift, names = PortClient(port), Names("controlled")
        assert thrift("bm_mt_get_num_entries", 0, "In.routes") == 0
        with connected(server.address) as client:
            assert refused(client.get_pipeline) == ["FAILED_PRECONDITION"]
            client.set_pipeline("controlled")
            client.insert(table_entry=names.entry("In.exact_match", [exact(1)], names.action("In.forward", 2)))
            assert thrift("bm_mt_get_num_entries", 0, "In.exact_match") == 1
            [handle] = [entry.handle for entry in thrift("bm_mt_get_entries", 0, "In.exact_match")]
            thrift("bm_mt_modify_entry", 0, "In.exact_match", handle, "In.forward", [b"\x00\x03"])
            assert arrives(server, 3, EXACT, 1)
            [entry] = client.read(table_entry={"table_id": names["In.exact_match"]})
            assert entry.action.action == names.action("In.forward", 3)
            thrift("bm_mt_delete_entry", 0, "In.exact_match", handle)
            key = key_of(b"\x00\x01")
            thrift("bm_mt_add_entry", 0, "In.exact_match", [key], "In.forward", [b"\x00\x02"], options())
            client.delete(table_entry=entry)
            assert thrift("bm_mt_get_num_entries", 0, "In.exact_match") == 0
            assert refused(client.delete, table_entry=entry) == ["NOT_FOUND"]
        thrift.close()
        assert server.stop()[0] == 0


def test_commands_run_before_the_first_frame(tmp_path: Path) -> None:
    commands = tmp_path / "commands.txt"
    commands.write_text("table_set_default In.routes In.route 3\n")
    with served([PROGRAMS / "controlled.json", "--commands", commands]) as server:
        assert arrives(server, 3, 1)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGKILL, -signal.SIGKILL)])
def test_the_switch_ends_with_the_command(number: signal.Signals, status: int) -> None:
    with served([PROGRAMS / "controlled.json"]) as server, connected(server.address) as client:
        [switch] = psutil.Process(server.process.pid).children()
        server.process.send_signal(number)
        assert server.process.wait(PATIENCE_S) == status
        assert until(lambda: not switch.is_running())
        client.end()


def test_the_process_has_the_name_by_which_scripts_end_it() -> None:
    with served() as server:
        assert Path(f"/proc/{server.process.pid}/comm").read_text() == "simple_switch_g\n"


def test_the_command_ends_with_the_switch() -> None:
    with served([PROGRAMS / "controlled.json"]) as server:
        [switch] = psutil.Process(server.process.pid).children()
        switch.kill()
        assert server.process.wait(PATIENCE_S) == 1
        assert server.errors() == "simple_switch_grpc: the switch has ended\n"


def test_a_log_file_has_the_output(tmp_path: Path) -> None:
    words: list[str | Path] = ["--no-p4", "--log-file", tmp_path / "log", "--", "--grpc-server-addr", "127.0.0.1:0"]
    with subprocess.Popen([sys.executable, EXECUTABLE, *words], stdout=subprocess.PIPE) as process:
        log = tmp_path / "log.txt"
        assert until(lambda: log.exists() and log.read_text().startswith("ready 127.0.0.1:"))
        process.terminate()
        assert process.communicate()[0] == b""


@pytest.mark.skipif(OPENSSL is None, reason="needs openssl to make a certificate")
def test_a_server_with_tls_requires_a_certificate_of_clients(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    more = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([str(OPENSSL), *words.split(), *more], check=True, capture_output=True)
    target: list[str | Path] = ["--grpc-server-ssl", "--grpc-server-cert", certificate, "--grpc-server-key", key]
    target += ["--grpc-server-cacert", certificate, "--grpc-server-with-client-auth"]
    pem, secret = certificate.read_bytes(), key.read_bytes()
    with served(target=target, address="localhost:0") as server:
        for credentials, works in (((pem, secret, pem), True), ((pem, None, None), False)):
            with grpc.secure_channel(server.address, grpc.ssl_channel_credentials(*credentials)) as channel:
                call = client_calls(channel)["Capabilities"]
                if works:
                    assert call(v1.CapabilitiesRequest()).p4runtime_api_version
                else:
                    assert refused(call, v1.CapabilitiesRequest()) == ["UNAVAILABLE"]
