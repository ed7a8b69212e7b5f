# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The contract of algorithms of collectives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np

from sfc_testbed.contract.broken import require
from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.collectives.schedule import Call, Schedule
from sfc_testbed.scenarios.traffic.collectives.table import COLLECTIVES

_RANKS = (2, 3, 4, 8)
_BYTES_PER_RANK = 840
_NEEDED: Mapping[str, Callable[[int], float]] = {
    "all-reduce": lambda ranks: 1.0,
    "all-gather": lambda ranks: 1 - 1 / ranks,
    "reduce-scatter": lambda ranks: 1 / ranks,
    "all-to-all": lambda ranks: 1 - 1 / ranks,
    "broadcast": lambda ranks: 1.0,
}
"""The part of the buffer that a rank must receive at least, since the other ranks know what it does not know."""


def moves_the_data(collective: str, name: str) -> None:
    """For some numbers of ranks, the messages are valid, and every rank receives as many bytes as it needs."""
    calls = 0
    for ranks in _RANKS:
        schedule = Schedule()
        call = Call(ranks, ranks * _BYTES_PER_RANK, 1, 0.0, np.random.default_rng(1))
        with suppress(ScenarioError):
            COLLECTIVES[collective].algorithms[name]().add_messages(schedule, call)
            _check_messages(schedule, ranks)
            _check_bytes(schedule, collective, call)
            calls += 1
    require(calls > 0, f"it supports none of {', '.join(map(str, _RANKS))} ranks")


def _check_messages(schedule: Schedule, ranks: int) -> None:
    require(len(schedule) > 0, f"there is no message between {ranks} ranks")
    begin = 0
    for number, (src, dst) in enumerate(zip(schedule.src, schedule.dst, strict=True)):
        what = f"message {number} of {ranks} ranks, from rank {src} to rank {dst}"
        is_valid = 0 <= src < ranks and 0 <= dst < ranks and src != dst
        require(is_valid, f"{what}: ranks are numbered from 0 to {ranks - 1}, and a rank cannot send to itself")
        require(schedule.size_bytes[number] > 0, f"{what} has no bytes")
        end = schedule.after_ends[number]
        for other in schedule.after[begin:end]:
            require(0 <= other < number, f"{what} waits for message {other}, which is not before it")
            is_known = src in (schedule.src[other], schedule.dst[other])
            require(is_known, f"{what} waits for message {other}, which rank {src} neither sends nor receives")
        begin = end


def _check_bytes(schedule: Schedule, collective: str, call: Call) -> None:
    if collective not in _NEEDED:
        return
    received: Counter[int] = Counter(dict.fromkeys(range(call.ranks), 0))
    for dst, size_bytes in zip(schedule.dst, schedule.size_bytes, strict=True):
        received[dst] += size_bytes
    needed_bytes = round(_NEEDED[collective](call.ranks) * call.size_bytes)
    short = [rank for rank, size_bytes in received.items() if size_bytes < needed_bytes]
    if len(short) > (collective == "broadcast"):
        rank = short[-1]
        require(
            False,
            f"rank {rank} of {call.ranks} receives {received[rank]} B; {collective} of {call.size_bytes} B needs at "
            f"least {needed_bytes} B",
        )
