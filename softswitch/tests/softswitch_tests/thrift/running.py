# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs a switch's process with a Thrift server's process, which needs no interface and no privilege."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from softswitch.build import build_executable
from softswitch_tests.pipeline.harness import PROGRAMS
from softswitch_tests.process.running import Running, running


@dataclass
class Served:
    """A running switch and its server."""

    switch: Running
    server: subprocess.Popen[str]
    port: int


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "softswitch.thrift", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextmanager
def served(name: str, folder: Path, *arguments: str) -> Iterator[Served]:
    """Run a program of the tests with ports 1 to 4 and a Thrift server on a free port."""
    program, control = PROGRAMS / f"{name}.json", folder / "control"
    with running("--control", control, ports=(1, 2, 3, 4), program=build_executable(program)) as switch:
        server = start("--control", control, "--program", program, "--port", "0", *arguments)
        try:
            assert server.stdout is not None
            ready = server.stdout.readline().split()
            if ready[:1] != ["ready"]:
                raise AssertionError(server.communicate()[1])
            yield Served(switch, server, int(ready[1]))
        finally:
            with server:  # closes its pipes and waits
                server.kill()
