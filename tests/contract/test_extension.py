# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of `check`: the contracts hold for a correct file, and each broken one is one sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.cli.app import main
from sfc_testbed.cli.output import EXIT_BAD_INPUT, EXIT_CLAIM, EXIT_DONE
from tests.extended import write_extension

pytestmark = pytest.mark.usefixtures("no_extensions")

BROKEN = '''\
import random as everywhere

import sfc_testbed as sfc


@sfc.congestion_control("closed")
class Closed(sfc.CongestionControl):
    def __init__(self, parameters, path):
        super().__init__(parameters, path)
        self.window_bytes = 0


@sfc.congestion_control("dice")
class Dice(sfc.CongestionControl):
    """A random rate."""

    def on_ack(self, sample, now_ns):
        self.rate_bps = everywhere.randint(1_000_000_000, self.path.line_rate_bps)


@sfc.congestion_control("model-units")
class ModelUnits(sfc.CongestionControl):
    """A rate of the model, which code must not use."""

    def __init__(self, parameters, path):
        super().__init__(parameters, path)
        self.rate_bps = 10_000_000_000


@sfc.congestion_control("crashing")
class Crashing(sfc.CongestionControl):
    """It divides by zero."""

    def on_ack(self, sample, now_ns):
        1 / (sample.acked_bytes - sample.acked_bytes)


@sfc.flow_control("liar")
class Liar(sfc.FlowControl):
    """It says that it obeys BTS, and does not."""

    obeys_signals = True


@sfc.collective_algorithm("all-reduce", "half")
class Half(sfc.CollectiveAlgorithm):
    """Half of a ring."""

    def add_messages(self, schedule, call):
        for rank in range(call.ranks):
            schedule.send(rank, (rank + 1) % call.ranks, call.size_bytes // call.ranks, step=1)


@sfc.collective_algorithm("moe", "late")
class Late(sfc.CollectiveAlgorithm):
    """The first message waits for the second one."""

    def add_messages(self, schedule, call):
        schedule.send(0, 1, 9, step=1, after=[1])
        schedule.send(1, 0, 9, step=1)


@sfc.scenario("empty")
class Empty(sfc.Workload):
    """Nothing is sent."""

    def flows(self, topology, random):
        return []


@sfc.scenario("unlike")
class Unlike(sfc.Workload):
    """Each call gives other flows."""

    def flows(self, topology, random):
        return [sfc.FlowRequest("h1", "h2", everywhere.randint(1, 10**6), 0, "any")]


@sfc.topology("lonely")
class Lonely(sfc.Shape):
    """One host."""

    def build(self):
        builder = self.new_builder()
        self.add_hosts(builder, {builder.add_switch("s1", has_hosts=True): 1})
        return builder.build()
'''
SENTENCES = (
    "algorithm half of all-reduce: rank 1 of 2 receives 840 B; all-reduce of 1680 B needs at least 1680 B",
    "algorithm late of moe: message 0 of 2 ranks, from rank 0 to rank 1 waits for message 1, which is not",
    "closed: the class has no docstring",
    "closed: window_bytes is 0 at first",
    "dice: two runs with the same inputs differ",
    "model-units: rate_bps is 10000000000 at first, and 10000000000 at dilation 100",
    "crashing: Crashing.on_ack raised ZeroDivisionError: division by zero",
    "liar: earliest_send_ns() did not become later with a BTS",
    "empty: at scale ci there are no flows",
    "unlike: at scale ci flows differ although the seed is the same",
    "lonely: number of hosts: 1; a flow needs two",
)


def test_the_contracts_hold_for_a_correct_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(write_extension(tmp_path))]) == EXIT_DONE
    output = capsys.readouterr().out
    for what in (
        "congestion control half-bdp",
        "flow control deaf",
        "scheme cached",
        "topology line",
        "scenario rounds",
    ):
        assert f"{what}: " in output
    assert output.endswith("all hold\n")


def test_each_broken_contract_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(write_extension(tmp_path, BROKEN))]) == EXIT_CLAIM
    errors = capsys.readouterr().err
    for sentence in SENTENCES:
        assert sentence in errors


def test_a_file_that_cannot_be_loaded_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(write_extension(tmp_path, "x = 1\n"))]) == EXIT_BAD_INPUT
    assert len(capsys.readouterr().err.splitlines()) == 1
