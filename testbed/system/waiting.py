# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Waiting for several processes at once. `select` knows no descriptor above 1023, and a large network has more."""

from __future__ import annotations

import math
import select
from collections.abc import Iterable
from typing import Protocol, TypeVar


class HasDescriptor(Protocol):
    """What can be waited for."""

    def fileno(self) -> int:
        """Its descriptor."""


Source = TypeVar("Source", bound=HasDescriptor)


def readable(sources: Iterable[Source], seconds: float) -> list[Source]:
    """Those that can be read or have been closed at the other end, waited for at most so long."""
    poll = select.poll()
    by_descriptor = {each.fileno(): each for each in sources}
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    return [by_descriptor[descriptor] for descriptor, _ in poll.poll(math.ceil(seconds * 1000))]
