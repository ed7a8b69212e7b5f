# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for waiting for the processes of a network of any size."""

from __future__ import annotations

import fcntl
import os
import resource
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain

import pytest

from os_helpers.waiting import readable

HIGH = 2000


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
    with ExitStack() as stack:
        pipes = [os.pipe() for _ in range(2)]
        for descriptor in chain.from_iterable(pipes):
            stack.callback(os.close, descriptor)
        descriptors = [fcntl.fcntl(read, fcntl.F_DUPFD_CLOEXEC, HIGH) for read, _ in pipes]
        high = [stack.enter_context(os.fdopen(descriptor, "rb")) for descriptor in descriptors]
        os.write(pipes[1][1], b"x")
        assert readable(high, 5) == [high[1]]


def test_a_descriptor_closed_at_the_other_end_is_readable() -> None:
    read, write = os.pipe()
    os.close(write)
    with os.fdopen(read, "rb") as end:
        assert readable([end], 5) == [end]
