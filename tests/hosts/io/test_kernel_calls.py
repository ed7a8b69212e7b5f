# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the system calls of the event loop in the C and the Python version, with UDP on loopback as the wire."""

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

from sfc_testbed.hosts.io.timer import MonotonicTimer
from sfc_testbed.native.build import link_c_module, missing
from sfc_testbed.place import ROOT

NAME = "sfc_testbed.hosts.io.kernel_calls"
SO_TIMESTAMPNS = 35
ROOM_BYTES = 2_000
SLACK_NS = 5_000_000

Wire = tuple[socket.socket, socket.socket]
"""A sending and a receiving socket that are connected."""


@pytest.fixture(scope="module", params=["C", "Python"])
def calls(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Return the C or the Python version of the module."""
    loader: ExtensionFileLoader | SourceFileLoader
    if request.param == "Python":
        loader = SourceFileLoader(NAME, str(ROOT / "hosts" / "io" / "kernel_calls.py"))
    else:
        missing_tool = missing()
        if missing_tool is not None:
            pytest.skip(missing_tool)
        folder = tmp_path_factory.mktemp("native")
        link_c_module(NAME, folder)
        loader = ExtensionFileLoader(NAME, str(folder / (NAME + EXTENSION_SUFFIXES[0])))
    spec = spec_from_loader(NAME, loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture
def wire() -> Iterator[Wire]:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as left,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as right,
    ):
        right.bind(("127.0.0.1", 0))
        right.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        left.connect(right.getsockname())
        yield left, right


def frames_of(count: int) -> list[bytes]:
    return [bytes([number % 251]) * (1 + number % 1_400) for number in range(count)]


def leaving(frames: list[bytes]) -> list[tuple[int, bytes]]:
    """Return the frames in the form in which a NIC returns them, with departure times."""
    return list(enumerate(frames))


def test_more_frames_than_a_burst_arrive_unchanged_and_in_order(calls: ModuleType, wire: Wire) -> None:
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


def test_send_starts_at_the_given_index(calls: ModuleType, wire: Wire) -> None:
    left, right = wire
    frames = frames_of(5)
    assert calls.send(left, leaving(frames), 3) == (5, 0)
    assert calls.send(left, leaving(frames), 5) == (5, 0)
    assert calls.receive(right, ROOM_BYTES)[0] == frames[3:]


def test_arrival_times_are_kernel_time_stamps_on_the_monotonic_clock(calls: ModuleType, wire: Wire) -> None:
    left, right = wire
    deadline_ns = time.monotonic_ns() + 60_000_000_000
    # The kernel begins to stamp arriving frames some time after a socket asks for it; before, it stamps them when read.
    while True:
        before_ns = time.monotonic_ns()
        calls.send(left, leaving(frames_of(3)), 0)
        assert select.select([right], [], [], 60)[0]  # a busy kernel may take long to deliver the frames
        delivered_ns = time.monotonic_ns()
        time.sleep(4 * SLACK_NS / 1e9)
        _, times_ns, _ = calls.receive(right, ROOM_BYTES)
        if times_ns[0] < delivered_ns + SLACK_NS or time.monotonic_ns() > deadline_ns:
            break
    assert times_ns == sorted(times_ns)
    assert before_ns - SLACK_NS < times_ns[0] < delivered_ns + SLACK_NS


def test_send_returns_the_index_and_the_error_of_a_refused_frame(calls: ModuleType, wire: Wire) -> None:
    left, right = wire
    frames = [b"one", bytes(70_000), b"two"]
    assert calls.send(left, leaving(frames), 0) == (1, errno.EMSGSIZE)
    assert calls.send(left, leaving(frames), 2) == (3, 0)
    assert calls.receive(right, ROOM_BYTES)[0] == [b"one", b"two"]


def test_frames_that_are_too_long_are_counted_not_truncated(calls: ModuleType, wire: Wire) -> None:
    left, right = wire
    frames = [bytes(11), bytes(10), bytes(12), b"x"]
    calls.send(left, leaving(frames), 0)
    arrived, times_ns, cut = calls.receive(right, 10)
    assert (arrived, len(times_ns), cut) == ([bytes(10), b"x"], 2, 2)


def test_an_error_of_the_socket_is_raised(calls: ModuleType) -> None:
    with (
        socket.socket(socket.AF_INET, socket.SOCK_STREAM) as unconnected,
        pytest.raises(OSError, match="not connected"),
    ):
        calls.receive(unconnected, ROOM_BYTES)


def test_a_sleep_ends_at_the_instant_and_not_before(calls: ModuleType) -> None:
    instant_ns = time.monotonic_ns() + SLACK_NS
    calls.sleep_until(instant_ns)
    assert time.monotonic_ns() >= instant_ns
    calls.sleep_until(0)


def test_a_timer_can_be_set_moved_and_cancelled(calls: ModuleType) -> None:
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
