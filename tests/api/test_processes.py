# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for calls in threads, in processes and beside an event loop, and for what a call leaves in its process."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import current_process, get_context
from pathlib import Path

import pytest

import sfc_testbed as sfc
from sfc_testbed.api import caller
from tests.api.reading import SMALL, digest, digest_of_seed
from tests.appearing import await_file
from tests.tree import ROOT

SEEDS = (1, 2)
_FORKED = """
import sys
from multiprocessing import get_context
from tests.api.reading import digest_of_seed
import sfc_testbed as sfc

out = sys.argv[1]
with get_context("fork").Pool(2) as pool:
    forked = pool.starmap(digest_of_seed, [(1, out), (2, out)])
assert forked == [digest_of_seed(1, out), digest_of_seed(2, out)]
with get_context("fork").Pool(1) as pool:
    try:
        pool.apply(digest_of_seed, (1, out))
    except sfc.UsageError as error:
        print(error)
"""
_LONG = """
import sys
import sfc_testbed as sfc

for seed in range(3):
    try:
        sfc.run("incast", seed=seed, settings={"message_bytes": 200_000_000}, duration_ms=10_000, out=sys.argv[1])
    except Exception:
        print("swallowed")
    except sfc.Interrupted as error:
        print(sfc.load(error.folders[0]).result.interrupted, flush=True)
        raise
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The digests of runs that run one after the other."""
    out = str(tmp_path_factory.mktemp("alone"))
    return [digest_of_seed(seed, out) for seed in SEEDS]


def test_runs_in_threads_are_the_same(alone: list[str], tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(digest_of_seed, SEEDS, [str(tmp_path)] * 2)) == alone


def test_runs_beside_an_event_loop_are_the_same(alone: list[str], tmp_path: Path) -> None:
    async def runs() -> list[str]:
        first = digest_of_seed(SEEDS[0], str(tmp_path))
        return [first, await asyncio.to_thread(digest_of_seed, SEEDS[1], str(tmp_path))]

    assert asyncio.run(runs()) == alone


def test_runs_in_spawned_processes_are_the_same(alone: list[str], tmp_path: Path) -> None:
    with get_context("spawn").Pool(2) as pool:
        assert pool.starmap(digest_of_seed, [(seed, str(tmp_path)) for seed in SEEDS]) == alone


def test_forked_processes_run_until_polars_was_used(tmp_path: Path) -> None:
    """After a fork, polars would wait forever for threads that do not exist."""
    words = [sys.executable, "-c", _FORKED, str(tmp_path)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("this process was forked after polars was used")


def test_several_workers_give_the_same_run(alone: list[str], tmp_path: Path) -> None:
    run = sfc.run("incast", settings=SMALL, topology="clos", workers=2, out=tmp_path)
    single = sfc.run("incast", settings=SMALL, topology="clos", workers=1, out=tmp_path)
    assert digest(run) == digest(single)
    assert run.config.workers == 2


def test_a_call_leaves_the_process_as_it_was(run: sfc.Run, tmp_path: Path) -> None:
    """The first run of the process has loaded polars, which sets a variable for its own allocator."""

    def state() -> tuple[object, ...]:
        handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
        collection = (gc.get_threshold(), gc.isenabled(), gc.get_freeze_count() > 0)
        return handlers, sys.unraisablehook, sys.excepthook, collection, dict(os.environ), Path.cwd()

    assert run.verdict == "faithful"
    thresholds = gc.get_threshold()
    gc.set_threshold(1234, 5, 6)
    try:
        before = state()
        sfc.run("incast", settings=SMALL, out=tmp_path)
        assert state() == before
        with pytest.raises(sfc.UsageError):
            sfc.run("nothing", out=tmp_path)
        assert state() == before
    finally:
        gc.set_threshold(*thresholds)


def test_ctrl_c_ends_a_script_and_keeps_the_measurements(tmp_path: Path) -> None:
    words = [sys.executable, "-c", _LONG, str(tmp_path)]
    process = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    await_file(tmp_path, "*/journal*", process)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=100)
    assert out == "True\n"
    assert "sfc_testbed.Interrupted: what was measured until then is in" in err
    [folder] = tmp_path.iterdir()
    assert json.loads((folder / "result.json").read_text())["interrupted"]


def test_only_one_live_network_per_process() -> None:
    with (
        caller.only_live_network(),
        pytest.raises(sfc.UsageError, match="a live network is already up in this process"),
        caller.only_live_network(),
    ):
        pass
    with caller.only_live_network():
        pass


def test_a_daemonic_process_runs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(current_process()._config, "daemon", True)  # type: ignore[attr-defined]
    assert caller.own_workers(None) == 1
    with pytest.raises(sfc.UsageError, match="cannot have children"):
        caller.own_workers(2)
