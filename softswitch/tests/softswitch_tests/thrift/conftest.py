# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A fixture that creates switches in this process, called with the bytes of Thrift."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from softswitch.build import build_library
from softswitch.engine import SwitchEngine
from softswitch.thrift.calls import Calls
from softswitch.thrift.program import Program
from softswitch_tests.pipeline.harness import PROGRAMS
from softswitch_tests.thrift.clients import LocalClient


@dataclass
class ThriftSwitch:
    """A switch with a Thrift client, and the log lines of its server."""

    engine: SwitchEngine
    calls: Calls
    call: LocalClient
    log: list[str] = field(default_factory=list)


@pytest.fixture
def make_switch() -> Iterator[Callable[[str], ThriftSwitch]]:
    """Return a function that creates a switch for a program of the tests."""
    with ExitStack() as stack:

        def make(name: str) -> ThriftSwitch:
            path = PROGRAMS / f"{name}.json"
            engine = stack.enter_context(SwitchEngine(build_library(path)))
            log: list[str] = []
            calls = Calls(engine, Program.read(path), log.append, device_id=7, thrift_port=9090)
            return ThriftSwitch(engine, calls, LocalClient(calls), log)

        yield make
