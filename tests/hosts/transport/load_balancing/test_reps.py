# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of REPS: exploration, recycling and freezing mode."""

from sfc_testbed.hosts.transport.load_balancing.reps import Reps, RepsParameters
from tests.hosts.transport.algorithm import PATH


def sender(**parameters: int) -> Reps:
    """Return a REPS sender that no longer explores, with a buffer of four entropies."""
    chosen = {"buffer_entropies": 4, "explore_packets": 1, **parameters}
    reps = Reps(Reps.resolve(RepsParameters(**chosen), PATH), PATH, 0, 1)
    reps.entropy(0, 0, 0)
    return reps


def acknowledge(reps: Reps, *entropies: int, now_ns: int = 0) -> None:
    for entropy in entropies:
        reps.on_ack(entropy, False, 0, now_ns)


def sent(reps: Reps, count: int, now_ns: int = 0) -> list[int]:
    return [reps.entropy(index, 0, now_ns) for index in range(count)]


def test_a_new_sender_explores_for_one_bdp() -> None:
    """Entropies that return earlier wait in the buffer."""
    reps = Reps(Reps.resolve(RepsParameters(), PATH), PATH, 0, 1)
    reps.on_ack(99_999, False, 1, 0)
    assert 99_999 not in sent(reps, 125)
    assert reps.entropy(125, 0, 0) == 99_999


def test_entropies_of_unmarked_acknowledgements_are_used_once_in_order() -> None:
    reps = sender()
    acknowledge(reps, 101_000, 102_000, 103_000)
    reps.on_ack(104_000, True, 0, 0)
    assert sent(reps, 3) == [101_000, 102_000, 103_000]
    assert reps.entropy(9, 0, 0) < 1 << 14  # nothing is left to recycle: the sender explores


def test_new_entropies_replace_the_oldest() -> None:
    reps = sender()
    acknowledge(reps, *range(100_001, 100_007))
    assert sent(reps, 4) == [100_003, 100_004, 100_005, 100_006]


def test_entropies_can_be_used_several_times_for_coalesced_acknowledgements() -> None:
    reps = sender(uses=2)
    acknowledge(reps, 100_001, 100_002)
    assert sent(reps, 4) == [100_001, 100_001, 100_002, 100_002]


def test_freezing_mode_uses_known_entropies_again_instead_of_exploring() -> None:
    reps = sender(freezing_ns=1_000)
    acknowledge(reps, 100_001, 100_002, 100_003)
    assert sent(reps, 3) == [100_001, 100_002, 100_003]
    reps.on_timeout(50)
    assert reps.is_freezing
    assert set(sent(reps, 6, now_ns=60)) == {100_001, 100_002, 100_003}
    acknowledge(reps, 100_009, now_ns=70)
    assert reps.entropy(9, 0, 80) == 100_009  # recycled entropies come first


def test_freezing_mode_ends_with_the_first_acknowledgement_after_its_time() -> None:
    reps = sender(freezing_ns=1_000, explore_packets=2)
    acknowledge(reps, 100_001)
    sent(reps, 2)
    reps.on_timeout(50)
    acknowledge(reps, 100_002, now_ns=1_050)
    assert reps.is_freezing
    acknowledge(reps, 100_003, now_ns=1_051)
    assert not reps.is_freezing
    assert all(entropy < 1 << 14 for entropy in sent(reps, 2))  # it explores again
    assert reps.entropy(9, 0, 1_060) == 100_002


def test_a_timeout_while_exploring_starts_no_freezing_mode() -> None:
    reps = Reps(Reps.resolve(RepsParameters(), PATH), PATH, 0, 1)
    reps.on_timeout(0)
    assert not reps.is_freezing


def test_freezing_mode_can_be_switched_off() -> None:
    reps = sender(freezing_ns=0)
    reps.on_timeout(0)
    assert not reps.is_freezing
