# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fixtures with a running server, shared by the tests of a module, and a primary client with a fresh pipeline."""

import itertools
import os
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest

from softswitch_tests.p4runtime.controller import Controller, Names
from softswitch_tests.p4runtime.other_server import VARIABLE, served_by
from softswitch_tests.p4runtime.running import Served, served

_ELECTION_IDS = itertools.count(1000)


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    """Yield softswitch, or the server of the environment variable P4RUNTIME_SERVER."""
    executable = os.environ.get(VARIABLE)
    with served() if executable is None else served_by(executable) as running:
        yield running
        assert "Traceback" not in running.errors()


@pytest.fixture
def primary(server: Served) -> Iterator[Controller]:
    """Yield a primary client; the switch runs `controlled` with empty tables, and its ports hold no frames."""
    with closing(Controller(server.address, next(_ELECTION_IDS))) as controller:
        assert controller.arbitrate().status.code == 0
        controller.set_pipeline("controlled")
        for port in server.ports.values():
            port.setblocking(False)
            with suppress(BlockingIOError):
                while port.recv(1 << 16):
                    pass
            port.settimeout(30)
        yield controller


@pytest.fixture(scope="session")
def names() -> Names:
    return Names("controlled")
