# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A Mininet script for BMv2 whose `simple_switch` is softswitch: `... -m ...link_scenario PROGRAM FOLDER`.

PROGRAM is `mri`. The links are TCLinks: one has a rate from the start, then gets another one, then a command overrides
it. The script prints what the switch said and the queue depths that the program recorded, as JSON.
"""

import json
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from mininet.link import TCLink
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Switch

from softswitch.child import COMMAND
from softswitch.control import ControlClient
from tests.appearing import comes_true
from tests.softswitch.mininet import frames
from tests.softswitch.mininet.scenario import tap

FRAMES = 100
PAYLOAD_BYTES = 100


class SimpleSwitch(Switch):  # type: ignore[misc]
    """A switch class as scripts for BMv2 have it: it starts `simple_switch` with the interfaces as ports."""

    def __init__(self, name: str, *, program: Path, folder: Path, **params: Any) -> None:
        self.program, self.folder = program, folder
        self.process: subprocess.Popen[bytes] | None = None
        super().__init__(name, **params)

    @property
    def log(self) -> Path:
        return self.folder / f"{self.name}.log"

    @property
    def control(self) -> Path:
        return self.folder / f"{self.name}.socket"

    def start(self, controllers: Any) -> None:
        words = [*COMMAND, "--control", str(self.control)]
        for port, interface in self.intfs.items():
            if interface.name != "lo":
                words += ["-i", f"{port}@{interface.name}"]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen([*words, str(self.program)], stdout=log, stderr=log)
        assert comes_true(lambda: "ready" in self.log.read_text().splitlines())

    def terminate(self) -> None:
        if self.process:
            self.process.terminate()
            self.process.wait()
        super().terminate()


def said(switch: SimpleSwitch, port: int) -> list[str]:
    """Return what the switch printed about a port."""
    return [line for line in switch.log.read_text().splitlines() if line.startswith(f"port {port} ")]


def burst(net: Mininet, control: ControlClient) -> tuple[list[int], dict[str, int]]:
    """Send frames through the slow port while the switch is stalled; return their queue depths, and the drops."""
    receiver = tap(net, "h2")
    control.command("stall on 1000")
    sent = [frames.numbered(n, frames.address(2), PAYLOAD_BYTES, records_hops=True) for n in range(FRAMES)]
    with tap(net, "h1") as sender:
        for frame in sent:
            sender.send(frame)
    assert comes_true(lambda: statistics(control)["queued_packets"] >= FRAMES)
    control.command("stall off")
    assert comes_true(lambda: statistics(control)["queued_packets"] == 0)
    depths = []
    with receiver:
        receiver.settimeout(1.0)
        with suppress(TimeoutError):
            while True:
                frame = receiver.recv(2048)
                if frames.is_ours(frame):
                    depths.append(frames.hops_of(frame)[0][1])
    return depths, statistics(control)["drops"]


def statistics(control: ControlClient) -> dict[str, Any]:
    counters: dict[str, Any] = json.loads(control.command("statistics"))
    return counters


def main(program: Path, folder: Path) -> None:
    setLogLevel("error")
    net = Mininet(controller=None, link=TCLink)
    switch = net.addSwitch("s1", cls=SimpleSwitch, program=program, folder=folder)
    for n in (1, 2):
        net.addHost(f"h{n}", ip=f"{frames.address(n)}/8", mac=frames.mac(n))
    net.addLink("h1", "s1", port2=1)
    slow = net.addLink("h2", "s1", port2=2, bw=0.4)
    net.start()
    try:
        result: dict[str, Any] = {"first": said(switch, 2), "other": said(switch, 1)}
        control = ControlClient(switch.control)
        for n in (1, 2):
            control.command(f"table_add ipv4_lpm ipv4_forward {frames.address(n)}/32 => {frames.mac(n)} {n}")
        control.command("table_set_default swtrace add_swtrace 1")
        result["depths"], result["drops"] = burst(net, control)
        slow.intf2.config(bw=3)
        # TCLink runs several tc commands for a change; a busy switch may print the state between two of them
        assert comes_true(lambda: " 3000000 bits/s" in said(switch, 2)[-1])
        result["second"] = said(switch, 2)[-1]
        lines = len(said(switch, 2))
        control.command("port_rate 2 5000000")
        slow.intf2.config(bw=2)
        net.get("s1").intfs[1].config(bw=1)  # the line about port 1 shows that the change of port 2 was seen as well
        assert comes_true(lambda: any(" 1000000 bits/s" in line for line in said(switch, 1)))
        result["after_command"] = said(switch, 2)[lines:]
        result["ports"] = control.command("show_ports")
        control.close()
    finally:
        net.stop()
    print(json.dumps(result))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
