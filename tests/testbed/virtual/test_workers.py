# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run divided among processes: their shares, the same traces, and no process remains however the run ends."""

from __future__ import annotations

import os
import resource
import signal
import socket
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

import psutil
import pytest

from sfc_testbed.api.planning import with_workers
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.testbed.errors import Interrupted, RunError, UsageError
from sfc_testbed.testbed.execution.execute import execute
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.outcome import Silent, Stage
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.virtual import workers as module
from sfc_testbed.testbed.virtual.gathering import Gathering
from sfc_testbed.testbed.virtual.part import lookahead_ns
from sfc_testbed.testbed.virtual.shares import shares
from sfc_testbed.testbed.virtual.tasks import Exchange, Task, WorkerReport
from sfc_testbed.testbed.virtual.worker import HEAD, TELL_TURNS, Worker, run_worker
from sfc_testbed.testbed.virtual.workers import simulate_shared
from softswitch.engine import Fabric
from tests.testbed.incasts import assert_same_run, plan_incast, run_plan, trace

_RACKS = ("topology.tors=3", "degree=12", "topology.hosts_per_tor=7", "message_bytes=60000")
_LOW = ("switch.q_th_bytes=20000", "switch.q_tg_bytes=10000")
_FAULTS = (
    "jitter:all,max=2us",
    "duplicate:all,rate=2%",
    "loss:all,rate=0.5%",
    "restart:spine1,at=40us",
    "stall:h1,at=10us,for=20us",
    "stall:tor3,at=20us,for=10us",
)


def _plan(
    scheme: str = "sfc",
    faults: tuple[str, ...] = (),
    settings: tuple[str, ...] = _RACKS,
    captures: tuple[str, ...] = ("h1", "spine1"),
) -> RunPlan:
    return plan_incast(scheme, *settings, faults=faults, captures=captures, duration_ms=20.0)


@pytest.mark.parametrize(
    ("scheme", "counts", "faults", "settings"),
    [
        ("sfc-est+hpcc", (3,), (), (*_LOW, "transport.cc_trace_rtt=0.2")),
        ("pfc", (2, 3), _FAULTS, ("switch.buffer_bytes=400000",)),
    ],
)
def test_any_number_of_workers_gives_the_same_run(
    tmp_path: Path, scheme: str, counts: tuple[int, ...], faults: tuple[str, ...], settings: tuple[str, ...]
) -> None:
    plan = _plan(scheme, faults, (*_RACKS, *settings))
    alone = run_plan(plan, tmp_path)
    assert trace(alone, "flows").height == 12
    assert trace(alone, "signals").height > 0 or scheme == "pfc"
    captures = {path.name: path.stat().st_size > 1000 for path in alone.folder.glob("pcaps/*")}
    ports = ("h1-eth0", "spine1-eth1", "spine1-eth2", "spine1-eth3")
    assert captures == {f"{port}.pcapng": True for port in ports}
    for workers in counts:
        assert_same_run(_shared(plan, tmp_path, workers), alone.folder)


def _shared(plan: RunPlan, folder: Path, workers: int) -> Path:
    """Execute a plan with several workers and return the folder of the run."""
    return run_plan(plan, folder, partial(simulate_shared, workers=workers)).folder


def test_a_run_that_its_duration_cuts_off_is_the_same(tmp_path: Path) -> None:
    """Switches that ran ahead must not change the rounds after the end of the duration."""
    plan = plan_incast("sfc", *_RACKS, *_LOW, duration_ms=0.0305)
    alone = run_plan(plan, tmp_path)
    assert 0 < alone.result.flows.completed < 12
    assert_same_run(_shared(plan, tmp_path, 2), alone.folder)


def test_workers_capture_the_same_packets_of_a_flow(tmp_path: Path) -> None:
    plan = _plan(captures=("flow:3",))
    alone = run_plan(plan, tmp_path)
    assert_same_run(_shared(plan, tmp_path, 3), alone.folder)
    assert max(path.stat().st_size for path in alone.folder.glob("pcaps/*")) > 1000


class _Runner:
    """A fake runner: it records reports and the size of the capture at the final report.

    It asks for the end of a run whose flows are all done.
    """

    def __init__(self, capture: Path) -> None:
        self._capture = capture
        self.size_bytes: int | None = None
        self.reports: list[WorkerReport] = []
        self.worker: Worker | None = None

    def poll(self) -> bool:
        return self.worker is not None and self.worker._ends.is_complete

    def recv(self) -> None:
        pass

    def send(self, report: WorkerReport) -> None:
        self.reports.append(report)
        if report.counts is not None:
            self.size_bytes = self._capture.stat().st_size


class _Alone:
    """An exchange without other workers."""

    def send_frames(self, fabric: Fabric) -> None:
        pass

    def send_note(self, note: bytes) -> None:
        pass

    def receive_frames(self, fabric: Fabric) -> None:
        fabric.forget_outgoing()

    def receive_notes(self) -> list[bytes]:
        return []


class _Busy(_Alone):
    """An exchange with a second worker whose hosts are busy, and which is asked to end in the sixth round."""

    def __init__(self) -> None:
        self.rounds = 0

    def receive_notes(self) -> list[bytes]:
        self.rounds += 1
        return [HEAD.pack(NEVER, self.rounds > 5, TELL_TURNS)]


def _worker(folder: Path, exchange: Exchange, workers: int) -> tuple[Worker, _Runner]:
    """Create the first of `workers` workers in this process."""
    plan = _plan()
    round_ns = lookahead_ns(plan.topology, plan.dilation)
    task = Task(plan, folder, shares(plan.topology, plan.columns, workers), round_ns)
    runner = _Runner(folder / "pcaps" / "h1-eth0.pcapng")
    return Worker(task, 0, exchange, cast("Connection", runner)), runner


def test_a_worker_completes_its_captures_before_its_final_report(tmp_path: Path) -> None:
    """The runner may kill it afterwards. A request to end after the last flow does not count as an interruption."""
    worker, runner = _worker(tmp_path, _Alone(), 1)
    runner.worker = worker
    worker.run()
    assert runner.size_bytes == (tmp_path / "pcaps" / "h1-eth0.pcapng").stat().st_size > 1000
    assert not runner.reports[-1].was_interrupted


def test_all_workers_report_after_the_same_rounds(tmp_path: Path) -> None:
    """Workers with idle hosts report too, because the runner hands on records only up to a round reported by all."""
    worker, runner = _worker(tmp_path, _Busy(), 2)
    worker.run()
    assert [report.rounds for report in runner.reports[:-1]] == [0, 2, 3, 4, 5, 6]
    assert runner.reports[-1].was_interrupted


def test_a_worker_whose_runner_is_gone_ends(tmp_path: Path) -> None:
    """The runner was killed before the worker asked the kernel for its death signal: the worker has another parent."""
    missing: Any = None
    process = get_context("fork").Process(
        target=run_worker, args=(missing, 0, missing, missing, tmp_path / "worker1.log", os.getpid() + 1)
    )
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


class _Dying:
    """A fake group of one worker, which has died in the middle of a report."""

    def __init__(self) -> None:
        runner_socket, worker_socket = socket.socketpair()
        with worker_socket:
            worker_socket.sendall((100).to_bytes(4, "big") + b"not all of it")
        self.connections = (Connection(runner_socket.detach()),)

    def failure(self, number: int) -> RunError:
        return RunError(f"worker {number + 1} is dead")


def test_a_worker_that_dies_during_a_report_is_reported_as_dead() -> None:
    gathering = Gathering(_plan(), cast("Recorder", None), Silent(), 1)
    with pytest.raises(RunError, match="worker 1 is dead"):
        module._listen(cast("module._Workers", _Dying()), gathering, Interrupt())


def test_the_limit_of_open_files_is_raised_for_workers() -> None:
    """Each worker has a connection and a process descriptor."""
    plan = _plan()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (40, hard))
    try:
        assert with_workers(plan, 3).config.workers == 3
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 40 + 3
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_racks_are_not_divided() -> None:
    plan = _plan()
    topology = plan.topology
    for workers in (1, 2, 3):
        worker_shares = shares(topology, plan.columns, workers)
        assert [name for share in worker_shares for name in share.hosts] == [host.name for host in topology.hosts]
        assert sorted(name for share in worker_shares for name in share.switches) == sorted(topology.switch)
        assert all(share.far for share in worker_shares) is (workers > 1)
    with pytest.raises(UsageError, match="the network has 3 racks"):
        shares(topology, plan.columns, 4)


_FOUR_RACKS = ("topology.tors=4", "topology.hosts_per_tor=4", "topology.spines=4")


def test_the_worker_of_the_incast_receiver_gets_the_least_other_work() -> None:
    """The other worker has all senders, which cost more, so the receiver's worker has all spines."""
    plan = plan_incast("sfc", *_FOUR_RACKS, "degree=12", "placement=remote")
    [receiver] = {flow.dst for flow in plan.flows}
    worker_shares = shares(plan.topology, plan.columns, 2)
    [busy] = [share for share in worker_shares if receiver in share.hosts]
    [other] = [share for share in worker_shares if share is not busy]
    assert len(busy.hosts) == 4
    assert {flow.src for flow in plan.flows} == set(other.hosts)
    tors = {host.switch for host in plan.topology.hosts}
    assert [len(set(share.switches) - tors) for share in (busy, other)] == [4, 0]


def test_racks_without_traffic_are_divided_evenly() -> None:
    plan = plan_incast("sfc", *_FOUR_RACKS, "degree=1", "message_bytes=1")
    for workers in (2, 4):
        worker_shares = shares(plan.topology, plan.columns, workers)
        assert [len(share.hosts) for share in worker_shares] == [16 // workers] * workers


def _kill_a_worker(*_: object) -> None:
    psutil.Process().children()[-1].kill()


class _Interrupting(Silent):
    """Sends SIGINT when the simulation begins."""

    def stage(self, stage: Stage) -> None:
        if stage == "simulating":
            os.kill(os.getpid(), signal.SIGINT)


@pytest.mark.parametrize(
    ("begin", "room_bytes", "ending"),
    [
        (_kill_a_worker, None, r"was ended by SIGKILL \(no output; see logs/worker"),
        (
            Recorder.begin,
            8,
            r"ended with status 1 \(.*NoRoom: the frames of one round do not fit .*; see logs/worker",
        ),
    ],
)
def test_a_worker_that_dies_ends_the_run_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, begin: object, room_bytes: int | None, ending: str
) -> None:
    """The recorder begins after all workers have been started."""
    monkeypatch.setattr(Recorder, "begin", begin)
    if room_bytes is not None:
        monkeypatch.setattr(module, "_room_bytes", lambda _: room_bytes)
    before = set(psutil.Process().children())
    with pytest.raises(RunError, match=rf"worker [12] of 2 {ending}") as caught:
        execute(_plan(), tmp_path, Silent(), partial(simulate_shared, workers=2))
    assert "\n" not in str(caught.value)
    assert set(psutil.Process().children()) == before


def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    try:
        run = execute(_plan(), tmp_path, _Interrupting(), partial(simulate_shared, workers=2))
    except Interrupted as error:
        pytest.fail(f"nothing was kept: {error}")
    assert run.result.interrupted
    assert run.result.unexplained_loss == 0
    assert run.result.flows.completed < run.result.flows.total == 12
