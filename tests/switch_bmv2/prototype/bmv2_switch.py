# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A switch of a topology on BMv2, for packet tests that do not depend on time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sfc_testbed.testbed.control_plane.commands import pipeline_commands
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.targets.common.commands import PROGRAM
from sfc_testbed.topologies.model import Topology
from tests.switch_bmv2.bench_switch import DILATION, Departure, SwitchOfTopology
from tools.bmv2_target import Bmv2Target


class Bmv2Switch(SwitchOfTopology):
    """A switch of a topology on BMv2, whose `engine` takes commands."""

    def __init__(self, topology: Topology, name: str, engine: Bmv2Target) -> None:
        super().__init__(topology, name)
        self.engine = engine

    def send(self, frame: bytes, port: int, at_ns: int) -> list[Departure]:
        """Deliver a frame and return all frames that leave because of it. BMv2 has its own clock."""
        return [
            Departure(departure_port, at_ns, departed) for departure_port, departed in self.engine.send(port, frame)
        ]


@contextmanager
def bmv2_switch(
    topology: Topology, name: str, settings: SwitchSettings, extra: tuple[str, ...] = ()
) -> Iterator[Bmv2Switch]:
    """Provide a switch that has ended afterwards."""
    with Bmv2Target(PROGRAM) as engine:
        for line in (*pipeline_commands(topology, name, settings, DILATION, seed=1), *extra):
            engine.command(str(line))
        yield Bmv2Switch(topology, name, engine)
