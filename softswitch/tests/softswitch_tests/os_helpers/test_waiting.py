# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for waiting for the processes of a network of any size."""

from __future__ import annotations

import fcntl
import os
import resource
from collections.abc import Iterator

import pytest

from os_helpers.waiting import readable

HIGH = 2000


class _End:
    """A source with the descriptor of one end of a pipe."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def fileno(self) -> int:
        return self.descriptor


@pytest.fixture
def room_for_many() -> Iterator[None]:
    """Raise the limit of open files above the highest descriptor that `select` supports."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard <= HIGH:
        pytest.skip(f"no more than {hard} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, HIGH + 100), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("room_for_many")
def test_descriptors_above_the_limit_of_select_are_supported() -> None:
    pipes = [os.pipe() for _ in range(2)]
    high = [_End(fcntl.fcntl(read, fcntl.F_DUPFD_CLOEXEC, HIGH)) for read, _ in pipes]
    try:
        os.write(pipes[1][1], b"x")
        assert readable(high, 5) == [high[1]]
    finally:
        for end in high:
            os.close(end.descriptor)
        for pair in pipes:
            for descriptor in pair:
                os.close(descriptor)


def test_a_descriptor_closed_at_the_other_end_is_readable() -> None:
    read, write = os.pipe()
    os.close(write)
    end = _End(read)
    try:
        assert readable([end], 5) == [end]
    finally:
        os.close(read)
