# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run over the processes of `mpirun`: same traces and captures as one process, and no rank waits for a dead one."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

import pytest

from sfc_testbed.hosts.transport.reports import Event
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import Interrupted, RunError, UsageError
from sfc_testbed.testbed.execution.execute import Clock, StoredRun, execute
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.recording.outcome import Progress, Silent
from sfc_testbed.testbed.virtual import worker
from sfc_testbed.testbed.virtual.part import Part
from sfc_testbed.testbed.virtual.ranks import Ranks
from sfc_testbed.testbed.virtual.shares import Share
from sfc_testbed.testbed.virtual.simulation import simulate
from tests.testbed.incasts import assert_same_run
from tests.testbed.running import command
from tests.testbed.virtual.ranks import RankThreads, over_threads

_REQUEST = RunSpec(
    "incast",
    "sfc",
    clock="virtual",
    settings={"topology.tors": 3, "degree": 12, "topology.hosts_per_tor": 7, "message_bytes": 30000},
    captures=("h1", "h21"),
)
"""Captures on rank 0 (h1) and on the last rank (h21)."""


def _run(folder: Path, clock: Clock, progress: Progress | None = None) -> StoredRun:
    return execute(plan_run(_REQUEST), folder, progress or Silent(), clock, page=False)


def test_ranks_give_the_traces_of_one_process(tmp_path: Path) -> None:
    alone = _run(tmp_path / "alone", simulate)
    assert alone.result.flows.completed == 12
    assert [path.stat().st_size > 1000 for path in alone.folder.glob("pcaps/*")] == [True, True]
    assert_same_run(_run(tmp_path / "ranks", over_threads(3)).folder, alone.folder)


class _Breaking(Part):
    """A part that breaks on the rank of h21: in a round, or when captures are closed at the end."""

    at_the_end = False

    def __init__(self, plan: RunPlan, folder: Path, write: Callable[[str, Event], None], share: Share) -> None:
        super().__init__(plan, folder, write, share)
        self._breaks = "h21" in share.hosts

    def run_hosts(self, until_ns: int) -> int:
        self._break(until_ns > 20_000_000 and not self.at_the_end)
        return super().run_hosts(until_ns)

    def close(self) -> None:
        super().close()
        self._break(self.at_the_end)

    def _break(self, is_time: bool) -> None:
        if is_time and self._breaks:
            raise OSError("nothing left\nbut this")


@pytest.mark.parametrize("at_the_end", [False, True])
def test_a_rank_that_fails_ends_the_run_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_the_end: bool
) -> None:
    monkeypatch.setattr(_Breaking, "at_the_end", at_the_end)
    monkeypatch.setattr(worker, "Part", _Breaking)
    with pytest.raises(RunError, match=r"^rank 2 of 3 on \S+ failed: but this; see logs/rank2.log \(see ") as caught:
        _run(tmp_path, over_threads(3))
    assert "\n" not in str(caught.value)
    [log] = tmp_path.glob("*/logs/rank2.log")
    assert "in _break" in log.read_text()


class _Crashing(_Breaking):
    """A part that raises an exception in the host engine on the rank of h21."""

    def _break(self, is_time: bool) -> None:
        if is_time and self._breaks:
            TransportSettings(payload_bytes=-1)


def test_a_rank_whose_host_engine_raises_leaves_a_result_that_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "Part", _Crashing)
    result = _run(tmp_path, over_threads(3)).result
    assert result.verdict == "invalid"
    assert re.search(
        r"raised \w+: .* \(sfc_testbed/request/checks\.py:\d+\); see logs/rank2\.log", result.verdict_reasons[0]
    )


def test_when_rank_0_fails_the_other_ranks_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure may also come after all rounds, while reports are recorded."""

    def full(*_: object) -> NoReturn:
        raise OSError("rank 0 breaks")

    monkeypatch.setattr("sfc_testbed.testbed.virtual.gathering.Gathering.take", full)
    with pytest.raises(OSError, match="rank 0 breaks"):
        _run(tmp_path, over_threads(3))


class _Interrupting(Silent):
    """Sends SIGINT this many times at the first progress report."""

    def __init__(self, times: int) -> None:
        self._left = times

    def share_done(self, share: float) -> None:
        while self._left:
            self._left -= 1
            signal.raise_signal(signal.SIGINT)


def test_ctrl_c_ends_all_ranks_after_the_same_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "TELL_TURNS", 50)
    result = _run(tmp_path, over_threads(2), _Interrupting(1)).result
    assert result.interrupted
    assert result.packets is not None
    assert result.packets.sent > 0
    assert result.unexplained_loss == 0
    assert result.flows.completed < result.flows.total == 12
    with pytest.raises(Interrupted, match="ended at the second signal"):
        _run(tmp_path, over_threads(2), _Interrupting(2))


def test_ranks_with_other_sources_are_refused() -> None:
    def act(ranks: Ranks) -> None:
        try:
            with pytest.raises(UsageError, match=r"processors of rank 2 on \S+ differ from those of rank 0 on"):
                ranks.check()
        finally:
            ranks.dismiss()

    RankThreads("these", "these", "those").run(act)


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun on the PATH")
@pytest.mark.skipif(find_spec("mpi4py") is None, reason="mpi4py is not installed")
def test_mpirun_gives_the_same_bytes(tmp_path: Path) -> None:
    settings = [word for name, value in _REQUEST.settings.items() for word in ("--set", f"{name}={value}")]
    words = ["run", "incast", "--clock", "virtual", "--exchange", "mpi", "--json", "--out", str(tmp_path / "ranks")]
    words += [*settings, "--pcap", ",".join(_REQUEST.captures)]
    oversubscribe = {
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    done = subprocess.run(
        ["mpirun", "-n", "2", *command(*words)],
        capture_output=True, text=True, check=False, timeout=200, env={**os.environ, **oversubscribe, **as_root},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    [folder] = (tmp_path / "ranks").iterdir()
    assert json.loads(done.stdout) == {**json.loads((folder / "result.json").read_text()), "folder": str(folder)}
    assert done.stderr.splitlines() == ["run shared by MPI: 2 processes, 1 machine"]
    assert_same_run(folder, _run(tmp_path / "alone", simulate).folder)
