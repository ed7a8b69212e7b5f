# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Extensions for tests: a file with a row of each kind, and the removal of what a test has loaded."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfc_testbed.request import extensions
from sfc_testbed.request.extension_finder import ExtensionFinder

MINE = '''\
from dataclasses import dataclass

import sfc_testbed as sfc

from .helper import FACTOR


@dataclass(frozen=True, slots=True)
class Parameters:
    gain: float = 1.0


@sfc.congestion_control("half-bdp")
class HalfBdp(sfc.CongestionControl):
    """A window of half a BDP."""

    Parameters = Parameters

    def __init__(self, parameters, path):
        super().__init__(parameters, path)
        self.window_bytes = max(1, int(path.bdp_bytes * FACTOR * parameters.gain))


@sfc.flow_control("deaf")
class Deaf(sfc.FlowControl):
    """A flow control that ignores all signals."""


@sfc.scenario("rounds", "each host sends to the next one, twice", scale=sfc.Scale("line", duration_ms=2))
class Rounds(sfc.Workload):
    message_bytes: int = 5_000

    def flows(self, topology, random):
        hosts = [host.name for host in topology.hosts]
        ends = list(zip(hosts, hosts[1:] + hosts[:1]))
        first = [sfc.FlowRequest(src, dst, self.message_bytes, 0, "first") for src, dst in ends]
        second = [
            sfc.FlowRequest(src, dst, self.message_bytes, 0, "second", after=(place + 1,))
            for place, (src, dst) in enumerate(ends)
        ]
        return [*first, *second]


@sfc.topology("line")
class Line(sfc.Shape):
    """Switches in a line."""

    switches: int = 2

    def build(self):
        builder = self.new_builder()
        names = [builder.add_switch(f"s{number + 1}", has_hosts=True) for number in range(self.switches)]
        self.add_hosts(builder, {name: 2 for name in names})
        for left, right in zip(names, names[1:]):
            builder.add_link(left, right, 100_000_000_000, 1_000)
        return builder.build()


sfc.scheme("cached", "the pause cache alone", switch={"pause_cache": True})
'''
HELPER = "FACTOR = 0.5\n"


def write_extension(folder: Path, text: str = MINE, name: str = "mine.py") -> Path:
    """Write a file and the module beside it, and return the file's path."""
    (folder / "helper.py").write_text(HELPER)
    (folder / name).write_text(text)
    return folder / name


@contextmanager
def nothing_remains() -> Iterator[None]:
    """Unload all extensions at the end."""
    try:
        yield
    finally:
        for extension in extensions.loaded():
            extensions._unload(extension)
        sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, ExtensionFinder)]
