# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The system calls of the loop, in C and in Python: both do the same. UDP on loopback stands for a wire."""

from __future__ import annotations

import errno
import os
import select
import socket
import time
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest

from compiled.build import link_native, missing
from compiled.sources import ROOT
from hosts.io.timer import MonotonicTimer

NAME = "hosts.io.kernel.calls"
SO_TIMESTAMPNS = 35
ROOM_BYTES = 2_000
SLACK_NS = 5_000_000


@pytest.fixture(scope="module", params=["C", "Python"])
def calls(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Either of the two modules."""
    loader: ExtensionFileLoader | SourceFileLoader
    if request.param == "Python":
        loader = SourceFileLoader(NAME, str(ROOT / "hosts" / "io" / "kernel" / "calls.py"))
    else:
        lacking = missing()
        if lacking is not None:
            pytest.skip(lacking)
        folder = tmp_path_factory.mktemp("native")
        link_native(NAME, folder)
        loader = ExtensionFileLoader(NAME, str(folder / (NAME + EXTENSION_SUFFIXES[0])))
    spec = spec_from_loader(NAME, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture
def wire() -> Iterator[tuple[socket.socket, socket.socket]]:
    """One that sends to the other."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as left,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as right,
    ):
        right.bind(("127.0.0.1", 0))
        right.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        left.connect(right.getsockname())
        yield left, right


def frames_of(count: int) -> list[bytes]:
    """All different, of all lengths."""
    return [bytes([number % 251]) * (1 + number % 1_400) for number in range(count)]


def leaving(frames: list[bytes]) -> list[tuple[int, bytes]]:
    """As a NIC hands them out."""
    return list(enumerate(frames))


def test_more_than_a_burst_goes_and_comes_in_order(
    calls: ModuleType, wire: tuple[socket.socket, socket.socket]
) -> None:
    """All sent by one call, taken by the burst; the bytes are what they were."""
    left, right = wire
    frames = frames_of(2 * calls.BURST + 3)
    assert calls.send(left, leaving(frames), 0) == (len(frames), 0)
    bursts: list[list[bytes]] = []
    while sum(map(len, bursts)) < len(frames):
        assert select.select([right], [], [], 10)[0], "frames were lost"
        arrived, times_ns, cut = calls.receive(right, ROOM_BYTES)
        assert len(times_ns) == len(arrived) and not cut
        bursts.append(arrived)
    assert [len(burst) for burst in bursts] == [calls.BURST, calls.BURST, 3]
    assert [frame for burst in bursts for frame in burst] == frames
    assert calls.receive(right, ROOM_BYTES) == ([], [], 0)


def test_sending_begins_where_it_is_told(calls: ModuleType, wire: tuple[socket.socket, socket.socket]) -> None:
    """What lies before has gone already."""
    left, right = wire
    frames = frames_of(5)
    assert calls.send(left, leaving(frames), 3) == (5, 0)
    assert calls.send(left, leaving(frames), 5) == (5, 0)
    assert calls.receive(right, ROOM_BYTES)[0] == frames[3:]


def test_arrivals_are_dated_on_the_monotonic_clock(
    calls: ModuleType, wire: tuple[socket.socket, socket.socket]
) -> None:
    """By when the kernel had the frame, not by when it was asked."""
    left, right = wire
    before_ns = time.monotonic_ns()
    calls.send(left, leaving(frames_of(3)), 0)
    assert select.select([right], [], [], 60)[0]  # a busy kernel hands frames over when it comes to it
    there_ns = time.monotonic_ns()
    time.sleep(4 * SLACK_NS / 1e9)
    _, times_ns, _ = calls.receive(right, ROOM_BYTES)
    assert times_ns == sorted(times_ns)
    assert before_ns - SLACK_NS < times_ns[0] < there_ns + SLACK_NS


def test_a_refused_frame_is_named_and_the_others_go(
    calls: ModuleType, wire: tuple[socket.socket, socket.socket]
) -> None:
    """No datagram is that long; the caller goes on after it."""
    left, right = wire
    frames = [b"one", bytes(70_000), b"two"]
    assert calls.send(left, leaving(frames), 0) == (1, errno.EMSGSIZE)
    assert calls.send(left, leaving(frames), 2) == (3, 0)
    assert calls.receive(right, ROOM_BYTES)[0] == [b"one", b"two"]


def test_a_frame_that_is_too_long_is_counted(calls: ModuleType, wire: tuple[socket.socket, socket.socket]) -> None:
    """It is not taken for a shorter one; one that just fits is taken."""
    left, right = wire
    frames = [bytes(11), bytes(10), bytes(12), b"x"]
    calls.send(left, leaving(frames), 0)
    arrived, times_ns, cut = calls.receive(right, 10)
    assert (arrived, len(times_ns), cut) == ([bytes(10), b"x"], 2, 2)


def test_what_the_kernel_says_of_a_socket_is_raised(calls: ModuleType) -> None:
    """A stream socket without a peer: nobody there is not the same as nothing there."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as alone, pytest.raises(OSError, match="not connected"):
        calls.receive(alone, ROOM_BYTES)


def test_a_timer_fires_is_moved_and_is_called_off(calls: ModuleType) -> None:
    """Setting it anew forgets that it has fired."""
    timer = MonotonicTimer()
    calls.set_timer(timer.fileno(), 1)
    assert select.select([timer], [], [], 10)[0] == [timer]
    calls.set_timer(timer.fileno(), time.monotonic_ns() + 3_600 * 10**9)
    assert select.select([timer], [], [], 0)[0] == []
    calls.set_timer(timer.fileno(), 1)
    assert select.select([timer], [], [], 10)[0] == [timer]
    calls.set_timer(timer.fileno(), 0)
    assert select.select([timer], [], [], 0)[0] == []
    timer.close()
    with pytest.raises(OSError, match=os.strerror(errno.EINVAL)), Path(os.devnull).open() as no_timer:
        calls.set_timer(no_timer.fileno(), 1)
