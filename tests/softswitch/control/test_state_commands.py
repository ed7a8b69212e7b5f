# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of commands on the state of a running program: digests and meter rates."""

from collections.abc import Iterator

import pytest

from softswitch.engine import CommandError, SwitchEngine
from tests.softswitch.pipeline.harness import switch_with

DIGEST = bytes([3]) + bytes(127)


@pytest.fixture
def stateful() -> Iterator[SwitchEngine]:
    with switch_with("stateful") as switch:
        yield switch


def test_digests_wait_until_they_are_read(stateful: SwitchEngine) -> None:
    stateful.step(1, DIGEST, 0)
    stateful.step(2, DIGEST, 0)
    lines = stateful.command("digest_read").splitlines()
    assert [line.split()[1].partition("=")[2] for line in lines] == ["1", "2"]
    assert stateful.command("digest_read") == ""


def test_lost_digests_are_counted(stateful: SwitchEngine) -> None:
    """The queue is bounded and keeps the oldest digests."""
    sent = 100_000
    for _ in range(sent):
        stateful.step(1, DIGEST, 0)
    lost = stateful.statistics()["digests_lost"]
    assert lost > 0
    assert len(stateful.digests()) == sent - lost


def test_meter_rates_are_read_as_they_were_set(stateful: SwitchEngine) -> None:
    assert stateful.command("meter_get_rates by_index 0") == ""
    stateful.command("meter_set_rates by_index 0 0.5:4 2:9")
    assert stateful.command("meter_get_rates by_index 0").splitlines() == [
        "0: info rate = 0.5, burst size = 4",
        "1: info rate = 2, burst size = 9",
    ]
    with pytest.raises(CommandError, match="nothing"):
        stateful.command("meter_get_rates nothing 0")
