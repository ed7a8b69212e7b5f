# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Gathering returns what is new in an active run in the order of time, from files of switches and records of hosts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from sfc_testbed.telemetry.flow_parts import RECEIVED, SENT
from sfc_testbed.telemetry.queue_samples import SAMPLE_DTYPE, Samples, link_rows, queue_rows
from sfc_testbed.telemetry.schema import LINKS, QUEUES, WHOLE_BUFFER
from sfc_testbed.testbed.watch import gathering
from sfc_testbed.testbed.watch.gathering import HOLD_NS, SILENT_NS, Gathered, Gathering, SampleFile

D = 1000
START_NS = 5_000_000_000
STEP_NS = 10_000_000  # 10 model us
SWITCHES = ("tor1", "tor2")


class Network:
    """Two switches that append samples to their files."""

    def __init__(self, folder: Path) -> None:
        self.paths = {name: folder / name for name in SWITCHES}
        self.gathering = Gathering(D)
        self.all: dict[str, list[Samples]] = {name: [] for name in SWITCHES}
        for path in self.paths.values():
            path.touch()
        self.gathering.open([SampleFile(name, os.open(path, os.O_RDONLY)) for name, path in self.paths.items()])

    def sample(self, switch: str, *steps: int) -> None:
        """Append the samples of these intervals after model time 0: a queue, a link and the whole buffer."""
        kinds = ((3, 3, 0), (2, 5, 1), (3, -1, -1), (WHOLE_BUFFER, WHOLE_BUFFER, -1))
        rows = [
            (START_NS + step * STEP_NS, port, name, part, 100 + step, 1000 + step)
            for step in steps
            for port, name, part in kinds
        ]
        samples = np.array(rows, dtype=SAMPLE_DTYPE)
        self.all[switch].append(samples)
        with self.paths[switch].open("ab") as file:
            file.write(samples.tobytes())

    def take(self, *, is_over: bool = False) -> Gathered:
        taken = self.gathering.take(is_over=is_over)
        assert taken is not None
        return taken


@pytest.fixture
def network(tmp_path: Path) -> Network:
    network = Network(tmp_path)
    network.gathering.begin(START_NS)
    return network


def _frame(parts: Sequence[Any], columns: Sequence[str]) -> pl.DataFrame:
    return pl.concat(
        pl.DataFrame(
            {
                name: pl.Series(part[name]).cast(pl.Float64, strict=False) if name != "switch" else part[name]
                for name in columns
            }
        )
        for part in parts
    )


def test_all_chunks_together_have_the_rows_of_the_traces(network: Network) -> None:
    taken = []
    for step in range(-2, 60):
        for switch in SWITCHES:
            network.sample(switch, step)
        gathered = network.gathering.take()
        taken += [gathered] if gathered is not None else []
    taken.append(network.take(is_over=True))
    assert taken[-1].is_last
    clock = {"start_ns": START_NS, "dilation_factor": D}
    for part, schema, rows_of in (("queues", QUEUES, queue_rows), ("links", LINKS, link_rows)):
        names = [name for name in schema.column_names if name != "lost_bytes"]
        shown = _frame([each.parts[part] for each in taken if part in each.parts], names)
        stored = pl.concat(rows_of(np.concatenate(network.all[name]), switch=name, **clock) for name in SWITCHES)
        numbers = stored.select(names).with_columns(pl.all().exclude("switch").cast(pl.Float64))
        expected = numbers.sort("time_us", "switch", "port")
        assert shown.sort("time_us", "switch", "port").equals(expected)
        assert shown["time_us"].is_sorted()


def test_rows_wait_until_all_switches_have_reported(network: Network) -> None:
    network.sample("tor1", *range(1, 41))
    network.sample("tor2", *range(1, 11))
    assert network.take().until_us == 100
    network.sample("tor2", *range(11, 41))
    assert network.take().until_us == 10 * (40 - HOLD_NS / STEP_NS)
    assert network.take().parts == {}


def test_a_switch_that_is_silent_for_long_is_not_waited_for(network: Network) -> None:
    network.sample("tor2", 1)
    network.sample("tor1", *range(1, 3 + SILENT_NS // STEP_NS))
    assert network.take().until_us > 300
    network.sample("tor2", 2)  # late
    assert 20 in np.array(network.take().parts["queues"]["time_us"])


def test_reports_of_hosts_come_with_the_samples_of_their_time(network: Network) -> None:
    def signal(received_us: float) -> tuple[object, ...]:
        return (1.0, received_us, "h1", 7, "tor1", "queue", 5.0, 1000, True, True, received_us + 5)

    network.gathering.add({"signals": [signal(90.0), signal(35.0)]})
    for switch in SWITCHES:
        network.sample(switch, *range(1, 20))
    assert network.take().parts["signals"]["received_us"] == (35.0,)
    for switch in SWITCHES:
        network.sample(switch, *range(20, 30))
    assert network.take().parts["signals"]["received_us"] == (90.0,)


def test_of_too_many_signals_every_nth_is_kept(network: Network) -> None:
    signals = [(1.0, float(place), "h1", 7, "tor1", "queue", 5.0, 1, True, True, None) for place in range(10_000)]
    network.gathering.add({"signals": signals})
    for switch in SWITCHES:
        network.sample(switch, 1)
    taken = network.take(is_over=True)
    assert taken.is_thinned
    assert taken.parts["signals"]["received_us"] == tuple(float(place) for place in range(0, 10_000, 3))


def test_the_report_of_a_receiver_is_joined_to_the_report_of_its_sender(network: Network) -> None:
    sent = {"flow_id": 4, "finish_us": 50.0}
    received = {"flow_id": 4, "received_us": 47.0}
    network.gathering.add(
        {
            "received": [tuple(received.get(name) for name in RECEIVED.column_names)],
            "sent": [
                tuple(sent.get(name) for name in SENT.column_names),
                tuple({"flow_id": 5}.get(name) for name in SENT.column_names),
            ],
        }
    )
    flows = network.take(is_over=True).parts["flows"]
    assert sorted(zip(flows["flow_id"], flows["finish_us"], flows["received_us"], strict=True)) == [
        (4, 50.0, 47.0),
        (5, None, None),
    ]


def test_a_switch_that_starts_again_truncates_its_file(network: Network) -> None:
    for switch in SWITCHES:
        network.sample(switch, *range(1, 21))
    network.take()
    network.paths["tor1"].write_bytes(b"")
    network.take()
    for switch in SWITCHES:
        network.sample(switch, *range(21, 41))
    network.take()
    times = np.array(network.take(is_over=True).parts["queues"]["time_us"])
    assert times.max() == 400


def test_nothing_is_shown_before_model_time_begins(tmp_path: Path) -> None:
    network = Network(tmp_path)
    network.sample("tor1", *range(-30, 0))
    network.sample("tor2", *range(-30, 0))
    assert network.gathering.take() is None
    network.gathering.begin(START_NS)
    assert network.gathering.take() is None
    assert network.take(is_over=True).parts == {}


def test_many_samples_are_read_in_pieces(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MOST_SAMPLES", 100)
    for switch in SWITCHES:
        network.sample(switch, *range(1, 101))
    taken = [network.take(is_over=True)]
    while not taken[-1].is_last:
        taken.append(network.take(is_over=True))
    assert len(taken) > 3
    times = np.concatenate([np.array(each.parts["links"]["time_us"]) for each in taken if "links" in each.parts])
    assert sorted(times) == sorted([*range(10, 1001, 10)] * 2)
    assert np.all(np.diff(times) >= 0)


def test_a_switch_with_many_unread_samples_is_not_silent(network: Network, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "MOST_SAMPLES", 40)
    network.sample("tor1", *range(1, 200))
    network.sample("tor2", *range(1, 200, 19))
    taken = [network.gathering.take() for _ in range(20)]
    times = np.concatenate([each.parts["links"]["time_us"] for each in taken if each and "links" in each.parts])
    assert np.all(np.diff(times) >= 0)
    assert times[-1] == 10 * (199 - HOLD_NS / STEP_NS)


def test_a_truncated_sample_is_read_when_it_is_complete(network: Network) -> None:
    network.sample("tor2", *range(1, 31))
    network.sample("tor1", *range(1, 31))
    whole = network.paths["tor1"].read_bytes()
    network.paths["tor1"].write_bytes(whole[:-7])
    network.take()
    with network.paths["tor1"].open("ab") as file:
        file.write(whole[-7:])
    assert network.take(is_over=True).until_us == 300
