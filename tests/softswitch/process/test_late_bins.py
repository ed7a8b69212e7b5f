# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that a switch writes its lateness over time in the records that the testbed reads."""

import time
from pathlib import Path

import numpy as np

from sfc_testbed.telemetry.late_bins import RECORD_DTYPE
from softswitch_tests.process.running import running, statistics
from softswitch_tests.programs.steered import steer


def test_lateness_over_time_covers_every_departure(tmp_path: Path) -> None:
    late, counters, width_ns = tmp_path / "late", tmp_path / "statistics", 5_000_000
    epoch_ns = time.monotonic_ns()
    arguments = ("--lateness", late, "--lateness-ns", str(width_ns), "--epoch-ns", str(epoch_ns))
    with running(*arguments, "--statistics", counters) as switch:
        for _ in range(4):
            switch.send(1, steer(2))
            switch.receive(2)
            time.sleep(0.012)
        assert switch.stop() == (0, "")
    records = np.fromfile(late, dtype=RECORD_DTYPE)
    assert records["departures"].sum() == 4
    assert len(records) > 1
    assert (records["departures"] > 0).all()
    assert (records["time_ns"] % width_ns == 0).all()
    assert (np.diff(records["time_ns"]) > 0).all()
    assert records["max_ns"].max() == statistics(counters)["lateness"]["departures"]["max_ns"]
