# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The cells of counters, meters and registers that a message names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from grpc import StatusCode

from softswitch.p4runtime import messages
from softswitch.p4runtime.info import ArrayInfo
from softswitch.p4runtime.status import invalid, refuse


def selected_arrays(
    arrays: Mapping[int, ArrayInfo], number: int, what: str, *, is_write: bool = False
) -> Sequence[ArrayInfo]:
    """Return the array with an id; for id 0 all arrays, but only when reading."""
    if number == 0 and not is_write:
        return tuple(arrays.values())
    if number not in arrays:
        raise invalid(f"no {what} {number} in the P4Info")
    return (arrays[number],)


def selected_cells(array: ArrayInfo, message: Any) -> Sequence[int]:
    """Return the index in a message, or all indexes without one."""
    if not message.HasField("index"):
        return range(array.array.count)
    index = message.index.index
    if index < 0:
        raise invalid(f"index {index} is below 0")
    if index >= array.array.count:
        refuse(StatusCode.OUT_OF_RANGE, f"index {index} is outside {array.array.name}, which has {array.array.count}")
    return (index,)


def written_cells(kind: int, array: ArrayInfo, message: Any) -> Sequence[int]:
    """Return the cells that an update changes. Raise Refusal for an update that is not a modification."""
    if kind != messages.v1.Update.MODIFY:
        raise invalid(f"{array.array.name} can only be modified")
    return selected_cells(array, message)
