# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Switches in this process whose answers are asked for over Thrift's bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest

from softswitch.build import build_library
from softswitch.engine import SwitchEngine
from softswitch.thrift.calls import Calls
from softswitch.thrift.program import Program
from tests.softswitch.pipeline.harness import PROGRAMS
from tests.softswitch.thrift.clients import LocalClient


@dataclass
class Asked:
    """A switch, who calls it, and what its server would have told."""

    engine: SwitchEngine
    calls: Calls
    call: LocalClient
    told: list[str] = field(default_factory=list)


@pytest.fixture
def asked() -> Iterator[Callable[[str], Asked]]:
    """Makes a switch of a program of the tests."""
    with ExitStack() as stack:

        def make(name: str) -> Asked:
            path = PROGRAMS / f"{name}.json"
            engine = stack.enter_context(SwitchEngine(build_library(path)))
            told: list[str] = []
            calls = Calls(engine, Program.read(path), told.append, device_id=7, thrift_port=9090)
            return Asked(engine, calls, LocalClient(calls), told)

        yield make
