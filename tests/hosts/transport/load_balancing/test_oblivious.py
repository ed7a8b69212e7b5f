# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of oblivious spraying: which entropies it uses, and in which order."""

from collections import Counter

import pytest

from sfc_testbed.hosts.transport.load_balancing.base import ENTROPIES
from sfc_testbed.hosts.transport.load_balancing.oblivious import Oblivious, ObliviousParameters
from sfc_testbed.hosts.transport.settings import TransportSettings
from tests.hosts.transport.algorithm import PATH


def entropies(count: int, *, seed: int = 1, **parameters: object) -> list[int]:
    balancing = Oblivious(ObliviousParameters(**parameters), PATH, 7, seed)  # type: ignore[arg-type]
    return [balancing.entropy(index, 0, 0) for index in range(count)]


def test_each_pass_uses_every_entropy_once_in_a_new_order() -> None:
    passes = [entropies(48, entropies=16)[start : start + 16] for start in (0, 16, 32)]
    assert len({frozenset(one) for one in passes}) == 1
    assert all(len(set(one)) == 16 for one in passes)
    assert passes[0] != passes[1] != passes[2]
    assert all(0 <= entropy < ENTROPIES for entropy in passes[0])


def test_round_robin_repeats_its_order() -> None:
    drawn = entropies(32, entropies=16, order="round-robin")
    assert drawn[:16] == drawn[16:]
    assert len(set(drawn)) == 16


def test_random_order_draws_each_entropy_about_equally_often() -> None:
    """The number of draws of an entropy has a standard deviation of 31."""
    counts = Counter(entropies(16_000, entropies=16, order="random"))
    assert len(counts) == 16
    assert all(850 <= count <= 1_150 for count in counts.values())


def test_queue_pairs_use_different_sets() -> None:
    sets = [frozenset(entropies(16, seed=seed, entropies=16)) for seed in range(20)]
    assert len(set(sets)) > 15


def test_the_number_of_entropies_is_a_power_of_two() -> None:
    with pytest.raises(ValueError, match="entropies: must be a power of two, not 6"):
        TransportSettings(load_balancing="oblivious", load_balancing_parameters={"entropies": 6})
