# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A Mininet script with a triangle of three SoftSwitches and a host each: `... -m ...scenario PROGRAM...`.

The arguments are the programs basic, ecn, mri and load_balance, in this order. The network stays; its switches restart
with the next program. The script prints the measurements as JSON. The link between s1 and s2 is slow and long.
"""

import json
import re
import select
import socket
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mininet.log import setLogLevel
from mininet.net import Mininet

from sfc_testbed.hosts.io.namespaces import network_namespace
from softswitch.mininet import SoftSwitch, SwitchError
from tests.appearing import comes_true
from tests.softswitch.mininet import frames

HOSTS = (1, 2, 3)
OUT = {1: {1: 1, 2: 2, 3: 3}, 2: {1: 2, 2: 1, 3: 3}, 3: {1: 2, 2: 3, 3: 1}}
"""The port of each switch towards each host."""

SLOW = {"bw": 0.4, "delay": "2ms"}
"""The parameters of the slow link, on which 1000 B take 20 ms."""
SPREAD_ADDRESS = "10.0.0.100"
PATIENCE_S = 20.0
_OUTGOING = 4


def routes(switch: int) -> list[str]:
    return [
        f"table_add ipv4_lpm ipv4_forward {frames.address(host)}/32 => {frames.mac(host)} {OUT[switch][host]}"
        for host in HOSTS
    ]


def recording_routes(switch: int) -> list[str]:
    return [*routes(switch), f"table_set_default swtrace add_swtrace {switch}"]


def spreading(switch: int) -> list[str]:
    """Return the entries of load_balance: for s1 two paths for one address, for the others the path to their host."""
    ways = (2, 3) if switch == 1 else (switch,)
    matched = SPREAD_ADDRESS if switch == 1 else frames.address(switch)
    lines = [f"table_add ecmp_group set_ecmp_select {matched}/32 => 0 {len(ways)}"]
    for way, host in enumerate(ways):
        entry = f"{frames.mac(host)} {frames.address(host)} {OUT[switch][host]}"
        lines.append(f"table_add ecmp_nhop set_nhop {way} => {entry}")
    return [*lines, f"table_add send_frame rewrite_mac 1 => {frames.mac(0x10 + switch)}"]


def triangle(program: str) -> Mininet:
    """Return the network, not yet started; s3 has its own namespace."""
    net = Mininet(controller=None)
    for n in HOSTS:
        net.addHost(f"h{n}", ip=f"{frames.address(n)}/8", mac=frames.mac(n))
        net.addSwitch(f"s{n}", cls=SoftSwitch, program=program, commands=routes(n), inNamespace=n == 3)
        net.addLink(f"h{n}", f"s{n}", port2=1)
    net.addLink("s1", "s2", port1=2, port2=2, **SLOW)
    net.addLink("s1", "s3", port1=3, port2=2)
    net.addLink("s2", "s3", port1=3, port2=3)
    return net


def restart(net: Mininet, program: str, commands: Callable[[int], list[str]]) -> None:
    for n, switch in enumerate(net.switches, start=1):
        switch.stop(deleteIntfs=False)
        switch.program, switch.first_commands = program, commands(n)
        switch.start([])


def tap(net: Mininet, host: str) -> socket.socket:
    with network_namespace(net.get(host).pid):
        end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800))
    end.bind((f"{host}-eth0", 0x0800))
    return end


def send(net: Mininet, frames_to_send: list[bytes]) -> None:
    with tap(net, "h1") as sender:
        for frame in frames_to_send:
            sender.send(frame)


def send_at_once(net: Mininet, frames_to_send: list[bytes]) -> None:
    """Send frames from h1 while s1 is stalled, so that the time that sending takes has no effect."""
    [s1] = (switch for switch in net.switches if switch.name == "s1")
    s1.commands("stall on")
    send(net, frames_to_send)
    n_frames = len(frames_to_send)
    assert comes_true(lambda: json.loads(s1.commands("statistics")[0])["queued_packets"] >= n_frames, PATIENCE_S)
    s1.commands("stall off")


def gather(
    net: Mininet, sent: list[bytes], receivers: tuple[str, ...], sending: Callable[[Mininet, list[bytes]], None] = send
) -> dict[str, list[bytes]]:
    """Send frames from h1 and wait until as many have arrived; return them by receiver, in order of arrival."""
    taps = {tap(net, host): host for host in receivers}
    received: dict[str, list[bytes]] = {host: [] for host in receivers}
    sending(net, sent)
    while sum(map(len, received.values())) < len(sent):
        ready = select.select(list(taps), [], [], PATIENCE_S)[0]
        if not ready:
            break
        for end in ready:
            frame, origin = end.recvfrom(2_048)
            if origin[2] != _OUTGOING and frames.is_ours(frame):
                received[taps[end]].append(frame)
    for end in taps:
        end.close()
    return received


def ping(net: Mininet, receiver: int) -> tuple[int, float]:
    command = ["ping", "-n", "-c", "1", "-W", str(int(PATIENCE_S)), frames.address(receiver)]
    output, _, _ = net.get("h1").pexec(command)
    match = re.search(r"ttl=(\d+) time=([\d.]+) ms", output)
    return (int(match[1]), float(match[2])) if match else (0, 0.0)


def transfer(net: Mininet, receiver: int) -> int:
    place = (frames.address(receiver), 5001)
    with network_namespace(net.get(f"h{receiver}").pid):
        server = socket.create_server(place)
    with network_namespace(net.get("h1").pid):
        client = socket.socket()
    with server, client:
        for endpoint in (server, client):
            endpoint.settimeout(PATIENCE_S)
        client.connect(place)
        peer, _ = server.accept()
        with peer:
            peer.settimeout(PATIENCE_S)
            client.sendall(bytes(frames.TCP_BYTES))
            client.shutdown(socket.SHUT_WR)
            received = 0
            while chunk := peer.recv(65_536):
                received += len(chunk)
    return received


def refusal(net: Mininet) -> str:
    """Return the error of a switch whose commands file is wrong in its second line, and its PID."""
    switch = net.get("s1")
    switch.stop(deleteIntfs=False)
    with tempfile.NamedTemporaryFile("w", suffix="-commands.txt") as file:
        file.write("# routes\ntable_add no_such_table drop 1 =>\n")
        file.flush()
        switch.first_commands = file.name
        try:
            switch.start([])
        except SwitchError as error:
            return str(error).replace(file.name, "FILE") + f"; {switch.switch_pid}"
    return "nothing"


def run(programs: list[str]) -> dict[str, Any]:
    basic, ecn, mri, load_balance = programs
    net = triangle(basic)
    try:
        net.start()
        net.staticArp()
        h2 = frames.address(2)
        results: dict[str, Any] = {"ping": [ping(net, 2), ping(net, 3)], "tcp": transfer(net, 3)}
        restart(net, ecn, routes)
        size = frames.FRAME_BYTES
        burst = [frames.numbered(i, h2, size - 34, ecn=frames.ECT if i % 4 else 0) for i in range(frames.BURST)]
        arrived = gather(net, burst, ("h2",), send_at_once)["h2"]
        results["ecn"] = [(frames.number_of(frame), frames.ecn_of(frame)) for frame in arrived]
        restart(net, mri, recording_routes)
        burst = [frames.numbered(i, h2, size - 38, records_hops=True) for i in range(frames.BURST // 2)]
        arrived = gather(net, burst, ("h2",), send_at_once)["h2"]
        results["mri"] = [(frames.number_of(frame), frames.hops_of(frame)) for frame in arrived]
        restart(net, load_balance, spreading)
        flows = [frames.of_flow(20_000 + i % frames.FLOWS, SPREAD_ADDRESS) for i in range(2 * frames.FLOWS)]
        by_host = gather(net, flows, ("h2", "h3"))
        results["flows"] = {host: [frames.flow_of(frame) for frame in arrived] for host, arrived in by_host.items()}
        results["refusal"] = refusal(net)
        pids = [switch.switch_pid for switch in net.switches if switch.switch_pid]
    finally:
        net.stop()
    sockets = [path.name for path in Path(tempfile.gettempdir()).glob("softswitch-*.control")]
    results["left"] = [*sockets, *(str(pid) for pid in pids if Path(f"/proc/{pid}").exists())]
    return results


if __name__ == "__main__":
    setLogLevel("error")
    print(json.dumps(run(sys.argv[1:])))
