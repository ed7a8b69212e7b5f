# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The exchange between forked workers."""

from __future__ import annotations

import os
from contextlib import closing
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait

import pytest

from sfc_testbed.testbed.virtual.exchange import ExchangeError, SharedMemory

_WORKERS = 3
_ROUNDS = 200


def _content(sender: int, receiver: int, number: int) -> bytes:
    return f"{sender} to {receiver} in round {number}".encode() * (1 + number % 5)


def _swap_all(exchange: SharedMemory, mine: int, answers: Connection) -> None:
    exchange.join(mine)
    for number in range(_ROUNDS):
        parts = [(_content(mine, other, number), memoryview(b"!")) for other in range(_WORKERS)]
        received = exchange.swap(parts)
        for other, part in enumerate(received):
            assert bytes(part) == (b"" if other == mine else _content(other, mine, number) + b"!")
    answers.send(_ROUNDS)


@pytest.mark.parametrize("cores", [{0}, set(range(_WORKERS))])
def test_every_worker_receives_every_part(monkeypatch: pytest.MonkeyPatch, cores: set[int]) -> None:
    """Workers with a core each look for parts before they sleep; others sleep at once."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: cores)
    with closing(SharedMemory(_WORKERS, 1000)) as exchange:
        context = get_context("fork")
        ends = [context.Pipe() for _ in range(_WORKERS)]
        processes = [
            context.Process(target=_swap_all, args=(exchange, mine, theirs)) for mine, (_, theirs) in enumerate(ends)
        ]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        assert [process.exitcode for process in processes] == [0] * _WORKERS
        assert len(wait([ours for ours, _ in ends])) == _WORKERS


def test_a_part_larger_than_the_room_is_refused() -> None:
    with closing(SharedMemory(2, 8)) as exchange:
        exchange.join(0)
        with pytest.raises(ExchangeError, match=r"9 bytes of one round do not fit between two workers \(8\)"):
            exchange.swap([(), (b"12345", b"6789")])
