# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the server's process: its clients, the switch that it serves, and the ends of both."""

import asyncio
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from softswitch.thrift import __main__ as process
from softswitch.thrift.framing import Call
from softswitch.thrift.interface import interface
from softswitch.thrift.server import MOST_CLIENTS, Server
from softswitch_tests.pipeline.harness import PROGRAMS
from softswitch_tests.pipeline.test_l3 import ipv4_frame
from softswitch_tests.thrift.clients import PATIENCE_S, PortClient, message_of
from softswitch_tests.thrift.running import Served, served
from softswitch_tests.thrift.test_calls import add_route

CLI = shutil.which("simple_switch_CLI")
FRAME = ipv4_frame(0x0A010203)


@pytest.fixture
def l3(tmp_path: Path) -> Iterator[Served]:
    with served("l3", tmp_path) as both:
        yield both


def test_a_client_sets_up_a_running_switch(l3: Served) -> None:
    client = PortClient(l3.port)
    add_route(client, "10.1.0.0", 16, 3)
    client("bm_mt_set_default_action", 0, "In.neighbours", "In.rewrite", [bytes(5) + b"\x99"])
    l3.switch.send(1, FRAME)
    assert l3.switch.receive(3)[:6] == bytes(5) + b"\x99"
    with socket.create_connection(("127.0.0.1", l3.port), timeout=PATIENCE_S) as rude:
        rude.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert rude.recv(1) == b""
    assert client("bm_counter_read", 0, "In.by_port", 1).packets == 1
    with pytest.raises(interface().Refusal):
        client("bm_mt_delete_entry", 0, "In.routes", 9)
    client.close()
    l3.server.send_signal(signal.SIGTERM)
    assert l3.server.wait(PATIENCE_S) == 0
    assert l3.server.stderr is not None
    assert l3.server.stderr.read().splitlines() == [
        "softswitch.thrift: disconnected a client: not a call in the binary protocol",
        "softswitch.thrift: bm_mt_delete_entry: table_delete: the entry does not exist",
    ]


def test_server_ends_with_the_switch(l3: Served) -> None:
    client = PortClient(l3.port)
    client("bm_get_config_md5")
    l3.switch.stop()
    assert l3.server.wait(PATIENCE_S) == 0
    assert l3.server.stderr is not None
    assert l3.server.stderr.read() == ""
    client.close()


def test_server_reports_a_killed_switch(l3: Served) -> None:
    l3.switch.process.kill()
    assert l3.server.wait(PATIENCE_S) == 1
    assert l3.server.stderr is not None
    assert l3.server.stderr.read() == "softswitch.thrift: the switch was killed\n"


def test_server_dies_with_its_parent(l3: Served, tmp_path: Path) -> None:
    """The pipe of the server is closed, which shows that the server has ended."""
    script = "import subprocess, sys; subprocess.Popen(sys.argv[1:]); sys.stdin.read()"
    command = [sys.executable, "-m", "softswitch.thrift", "--control", str(tmp_path / "control")]
    command += ["--program", str(PROGRAMS / "l3.json"), "--port", "0"]
    parent = subprocess.Popen(
        [sys.executable, "-c", script, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    assert parent.stdout.readline().startswith("ready ")
    parent.kill()
    assert parent.communicate(timeout=PATIENCE_S)[0] == ""


def test_failed_start_is_a_one_line_error(
    l3: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(process, "die_with_parent", lambda: None)
    control, program, nothing = tmp_path / "control", PROGRAMS / "l3.json", tmp_path / "nothing"
    for arguments, words in (
        (("--control", nothing, "--program", program, "--port", "0"), f"no switch at {nothing}"),
        (("--control", control, "--program", nothing, "--port", "0"), f"{nothing}: No such file"),
        (("--control", control, "--program", program, "--port", "99999"), "'99999' is not a port"),
        (("--control", control, "--program", program, "--notifications", "tcp://x"), "'tcp://x' is not ipc://"),
        (("--control", control, "--program", Path(__file__), "--port", "0"), "is not JSON"),
        (("--control", control, "--program", program, "--port", l3.port), f"port {l3.port}: Address already"),
    ):
        with pytest.raises(SystemExit) as ended:
            process.main(list(map(str, arguments)))
        assert ended.value.code == 2
        text = capsys.readouterr().err
        assert words in text
        assert text.count("\n") == 1


def test_stuck_and_surplus_clients_are_disconnected() -> None:
    log: list[str] = []

    def answer(call: Call) -> bytes:
        return call.name.encode()

    async def crowd() -> None:
        listener = socket.create_server(("127.0.0.1", 0))
        server = Server(listener, answer, log.append, timeout_s=0.2)
        serving = asyncio.ensure_future(server.serve())
        clients = [await asyncio.open_connection(*listener.getsockname()) for _ in range(MOST_CLIENTS)]
        for _, writer in clients[:2]:
            writer.write(message_of("bm_get_config"))
        assert [await reader.readexactly(22) for reader, _ in clients[:2]] == [b"standard:bm_get_config"] * 2
        clients.append(await asyncio.open_connection(*listener.getsockname()))
        assert await clients[-1][0].read(1) == b""
        clients[0][1].write(message_of("bm_get_config")[:-1])
        assert await clients[0][0].read(1) == b""
        clients[1][1].write(message_of("bm_get_config"))
        assert await clients[1][0].readexactly(22) == b"standard:bm_get_config"
        server.end("enough")
        assert await serving == "enough"
        for _, writer in clients:
            writer.close()

    asyncio.run(crowd())
    assert log == [
        f"more than {MOST_CLIENTS} clients: the newest is turned away",
        "disconnected a client: no data for 0.2 s within a call",
    ]


def test_server_ends_if_a_call_finds_no_switch() -> None:
    """A call may be the first to notice that the switch has gone."""

    def answer(call: Call) -> bytes:
        raise BrokenPipeError("gone")

    async def ask() -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        serving = asyncio.ensure_future(Server(listener, answer, lambda line: None, PATIENCE_S).serve())
        _, writer = await asyncio.open_connection(*listener.getsockname())
        writer.write(message_of("bm_get_config"))
        why = await serving
        writer.close()
        return why

    assert asyncio.run(ask()) == "lost the switch: gone"


@pytest.mark.skipif(CLI is None, reason="needs BMv2's simple_switch_CLI on the PATH")
def test_official_cli_works_on_the_server(l3: Served) -> None:
    lines = textwrap.dedent(
        """\
        table_add routes route 10.1.0.0/16 => 3 10.0.0.1
        table_set_default neighbours rewrite 00:00:00:00:00:99
        table_dump routes
        counter_write In.by_port 2 5 640
        counter_read by_port 2
        mirroring_add 5 2
        mirroring_get 5
        mc_mgrp_create 1
        mc_node_create 7 2 3
        mc_node_associate 1 0
        mc_dump
        show_ports
        table_delete routes 9
        switch_info
        """
    )
    assert CLI is not None
    done = subprocess.run(
        [CLI, "--thrift-port", str(l3.port)],
        input=lines,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for words in (
        "Entry has been added with handle 0",
        "* ipv4.dst            : LPM       0a010000/16",
        "Action entry: In.route - 03, 0a000001",
        "by_port[2]= (640 bytes, 5 packets)",
        "MirroringSessionConfig(port=2, mgid=None)",
        "(L1h=0, rid=7) -> (ports=[2, 3], lags=[])",
        "Invalid table operation (INVALID_HANDLE)",
        f"thrift_port              : {l3.port}",
    ):
        assert words in done.stdout
    l3.switch.send(1, FRAME)
    assert l3.switch.receive(3)[:6] == bytes(5) + b"\x99"
