# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Waiting for the output of many processes. Large networks have descriptors above 1023, which `select` cannot use."""

from __future__ import annotations

import math
import select
from collections.abc import Iterable
from typing import Protocol, TypeVar


class HasDescriptor(Protocol):
    """An object with a file descriptor that can be waited for."""

    def fileno(self) -> int:
        """Return the file descriptor."""


Source = TypeVar("Source", bound=HasDescriptor)


def readable(sources: Iterable[Source], seconds: float) -> list[Source]:
    """Wait at most `seconds` and return the sources that are readable or closed at their other end."""
    poll = select.poll()
    by_descriptor = {source.fileno(): source for source in sources}
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    return [by_descriptor[descriptor] for descriptor, _ in poll.poll(math.ceil(seconds * 1000))]
