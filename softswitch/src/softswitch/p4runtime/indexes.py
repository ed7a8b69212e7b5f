# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The cells of counters, meters and registers that a message names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grpc import StatusCode

from softswitch.p4runtime import messages
from softswitch.p4runtime.info import ArrayInfo, find
from softswitch.p4runtime.status import invalid, refuse

MOST_CELLS = 1 << 22
"""The size of an array above which its cells are read one by one."""


def written_cells(kind: int, array: ArrayInfo, message: Any) -> Sequence[int]:
    """Return the cells that an update changes. Raise Refusal for an update that is not a modification."""
    if kind != messages.v1.Update.MODIFY:
        raise invalid(f"{array.array.name} can only be modified")
    return _cells(array, message)


def read_cells(
    arrays: Mapping[int, ArrayInfo], number: int, what: str, message: Any
) -> Iterator[tuple[ArrayInfo, Sequence[int]]]:
    """Yield the arrays that a message selects, each with its cells. The id 0 selects all cells of all arrays."""
    for array in arrays.values() if number == 0 else [find(arrays, number, what)]:
        cells = range(array.array.count) if number == 0 else _cells(array, message)
        if len(cells) > MOST_CELLS:
            text = f"{array.array.name} has {len(cells)} cells; read them one by one, because more than {MOST_CELLS}"
            refuse(StatusCode.RESOURCE_EXHAUSTED, f"{text} do not fit in an answer")
        yield array, cells


def _cells(array: ArrayInfo, message: Any) -> Sequence[int]:
    """Return the index in a message, or all indexes without one."""
    if not message.HasField("index"):
        return range(array.array.count)
    index = message.index.index
    if index < 0:
        raise invalid(f"index {index} is below 0")
    if index >= array.array.count:
        refuse(StatusCode.OUT_OF_RANGE, f"index {index} is outside {array.array.name}, which has {array.array.count}")
    return range(index, index + 1)
