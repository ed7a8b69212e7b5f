# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Portions of many messages that fit into answers which every client accepts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

MOST_PORTION_BYTES = 1 << 20
"""The size of a portion. gRPC's clients refuse answers above 4 MiB by default."""
_BYTES_OF_A_TAG = 6


def portions(messages: Iterable[Any]) -> Iterator[list[Any]]:
    """Yield messages in order, in lists that are not empty; a longer message is in a list of its own."""
    portion: list[Any] = []
    n_bytes = 0
    for message in messages:
        size = message.ByteSize() + _BYTES_OF_A_TAG
        if portion and n_bytes + size > MOST_PORTION_BYTES:
            yield portion
            portion, n_bytes = [], 0
        portion.append(message)
        n_bytes += size
    if portion:
        yield portion
