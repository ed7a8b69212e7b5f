# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run shared out over processes: the same traces, and nothing left of it however it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import cast

import polars as pl
import psutil
import pytest
from polars.testing import assert_frame_equal

from telemetry.schema import SCHEMAS
from testbed.errors import Interrupted, RunError, UsageError
from testbed.execution.execute import Clock, execute
from testbed.plan.plan import RunPlan, RunRequest, plan_run
from testbed.recording.outcome import Silent
from testbed.virtual.exchange import Descriptors
from testbed.virtual.part import lookahead_ns
from testbed.virtual.shares import shares
from testbed.virtual.simulation import simulate
from testbed.virtual.tasks import Task, Told
from testbed.virtual.worker import Worker
from testbed.virtual.workers import simulate_shared

_RACKS = ("topology.tors=3", "degree=12", "topology.hosts_per_tor=7", "message_bytes=60000")
_FAULTS = (
    "jitter:all,max=2us",
    "duplicate:all,rate=2%",
    "loss:all,rate=0.5%",
    "restart:spine1,at=40us",
    "stall:h1,at=10us,for=20us",
    "stall:tor3,at=20us,for=10us",
)


def _plan(scheme: str = "sfc", faults: tuple[str, ...] = (), settings: tuple[str, ...] = _RACKS) -> RunPlan:
    request = RunRequest(
        "incast", scheme, clock="virtual", faults=faults, settings=settings, captures=("h1",), duration_ms=20.0
    )
    return plan_run(request)


def _stored(plan: RunPlan, folder: Path, clock: Clock) -> tuple[dict[str, pl.DataFrame], bytes, dict[str, object]]:
    """Traces, a capture, and the result but for what a run cost and its name."""
    folder.mkdir()
    run = execute(plan, folder, Silent(), clock)
    traces = {schema.name: pl.read_parquet(run.folder / schema.file_name) for schema in SCHEMAS.values()}
    told = run.result.model_dump(exclude={"wall_s", "packets_per_s"})
    return traces, (run.folder / "pcaps" / "h1-eth0.pcap").read_bytes(), told


@pytest.mark.parametrize(
    ("scheme", "counts", "faults", "settings"),
    [("sfc", (3,), (), ()), ("pfc", (2, 3), _FAULTS, ("switch.buffer_bytes=400000",))],
)
def test_any_number_of_workers_gives_the_same_run(
    tmp_path: Path, scheme: str, counts: tuple[int, ...], faults: tuple[str, ...], settings: tuple[str, ...]
) -> None:
    """Rows in the same order, and the same counts; one with PFC and all that can go wrong."""
    plan = _plan(scheme, faults, (*_RACKS, *settings))
    traces, capture, told = _stored(plan, tmp_path / "alone", simulate)
    assert traces["flows"].height == 12
    assert len(capture) > 1000
    for workers in counts:
        found = _stored(plan, tmp_path / str(workers), partial(simulate_shared, workers=workers))
        for name, trace in traces.items():
            assert_frame_equal(found[0][name], trace)
        assert found[1] == capture
        assert found[2] == told


class _Runner:
    """How many bytes of the capture are on disk when the worker says that it has told all."""

    def __init__(self, capture: Path) -> None:
        self._capture = capture
        self.size_bytes: int | None = None

    def poll(self) -> bool:
        return False

    def send(self, told: Told) -> None:
        if told.counts is not None:
            self.size_bytes = self._capture.stat().st_size


class _Alone:
    """A worker that has no others to meet."""

    def swap(self, parts: Sequence[bytes]) -> list[bytes]:
        return [b"" for _ in parts]


def test_a_worker_has_written_its_captures_before_it_says_that_it_is_done(tmp_path: Path) -> None:
    """The runner may end it from then on."""
    plan = _plan()
    (own,) = shares(plan.topology, 1)
    round_ns = lookahead_ns(plan.topology, plan.dilation)
    descriptors = Descriptors(-1, (), 0)
    capture = tmp_path / "pcaps" / "h1-eth0.pcap"
    runner = _Runner(capture)
    Worker(Task(plan, tmp_path, own, 0, 1, round_ns, descriptors), _Alone(), cast("Connection", runner)).run()
    assert runner.size_bytes == capture.stat().st_size > 1000


def test_a_rack_is_not_divided() -> None:
    """More workers than racks are refused; fewer have all nodes between them, racks in the order of the hosts."""
    topology = _plan().topology
    for workers in (1, 2, 3):
        own = shares(topology, workers)
        assert [name for each in own for name in each.hosts] == [host.name for host in topology.hosts]
        assert sorted(name for each in own for name in each.switches) == sorted(topology.switch)
        assert all(each.far for each in own) is (workers > 1)
    with pytest.raises(UsageError, match="the network has 3 racks"):
        shares(topology, 4)


class _Killing(Silent):
    """Kills a worker once all are there."""

    def hosts_up(self, count: int, total: int) -> None:
        psutil.Process().children()[-1].kill()


class _Interrupting(Silent):
    """Ctrl-C, once all are there."""

    def hosts_up(self, count: int, total: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)


def test_a_worker_that_dies_ends_the_run_in_one_line(tmp_path: Path) -> None:
    """It is named, and so is how it ended; the others are gone too."""
    before = set(psutil.Process().children())
    with pytest.raises(RunError, match=r"worker [12] of 2 was killed by signal 9; its log is") as caught:
        execute(_plan(), tmp_path, _Killing(), partial(simulate_shared, workers=2))
    assert "\n" not in str(caught.value)
    assert set(psutil.Process().children()) == before


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    """All workers end with the same round; the frames balance."""
    try:
        run = execute(_plan(), tmp_path, _Interrupting(), partial(simulate_shared, workers=2))
    except Interrupted as error:
        pytest.fail(f"nothing was kept: {error}")
    assert run.result.interrupted
    assert run.result.unexplained_loss == 0
    assert run.result.flows.completed < run.result.flows.total == 12
