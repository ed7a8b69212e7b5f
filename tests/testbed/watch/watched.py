# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A command with `--watch` as a process, and what its page gets."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import IO, Any

import polars as pl
import psutil

from sfc_testbed.analysis.watch.chunk import PARTS
from tests.testbed import running
from tests.testbed.watch.client import Event, rows, streamed

_PREFIX = "watch: "


@dataclass
class WatchedCommand:
    """A command whose page has this address. `finish` returns what it printed."""

    process: subprocess.Popen[str]
    url: str
    stdout: list[str]
    stderr: list[str]
    readers: Sequence[Thread]

    def finish(self) -> int:
        """Wait for the end of the command and return its exit code."""
        status = self.process.wait(280)
        for reader in self.readers:
            reader.join(60)
        return status

    def server(self) -> psutil.Process:
        """Return the process of the page's server."""
        [server] = [
            child
            for child in psutil.Process(self.process.pid).children()
            if "sfc_testbed.testbed.watch.process" in child.cmdline()
        ]
        return server


def _read(pipe: IO[str], lines: list[str]) -> None:
    lines.extend(pipe)


@contextmanager
def watched(*words: str, stream: str = "stderr") -> Iterator[WatchedCommand]:
    """Start runner.py with these arguments and provide it once it has printed the address of the page."""
    process = running.started(*words)
    lines: dict[str, list[str]] = {"stdout": [], "stderr": []}
    try:
        for line in getattr(process, stream):
            lines[stream].append(line)
            if line.startswith(_PREFIX):
                break
        else:
            raise AssertionError("".join(lines[stream]))
        url = lines[stream][-1].removeprefix(_PREFIX).strip()
        threads = [Thread(target=_read, args=(getattr(process, name), lines[name]), daemon=True) for name in lines]
        for thread in threads:
            thread.start()
        yield WatchedCommand(process, url, lines["stdout"], lines["stderr"], threads)
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


def all_events(url: str) -> list[Event]:
    """Return all events of a page until its server ends."""
    with streamed(url) as events:
        return list(events)


def assert_same_as_stored(events: list[Event], folder: Path) -> None:
    """Check that the chunks have the queues, links, signals and flows of the run's traces."""
    [scene] = [event.data for event in events if event.kind == "scene"]
    numbers = {name: number for number, name in enumerate(scene["names"])}
    queues = pl.read_parquet(folder / "queues.parquet").filter(pl.col("high_water_bytes") > 0)
    _assert_same(rows(events, "queues"), queues, ("time_us", "switch", "port", "class"), numbers)
    links = pl.read_parquet(folder / "links.parquet").drop("lost_bytes")  # the page shows losses of switches
    _assert_same(rows(events, "links"), links, ("time_us", "switch", "port"), numbers)
    signals = pl.read_parquet(folder / "signals.parquet")
    if signals.height:
        assert sorted(rows(events, "signals")["received_us"]) == sorted(signals["received_us"])
    flows = pl.read_parquet(folder / "flows.parquet")
    shown = rows(events, "flows").sort("flow_id")
    assert shown["finish_us"].to_list() == flows["finish_us"].to_list()
    assert shown["received_us"].to_list() == flows["received_us"].to_list()


def _assert_same(shown: pl.DataFrame, stored: pl.DataFrame, keys: tuple[str, ...], numbers: dict[str, Any]) -> None:
    stored = stored.with_columns(pl.col("switch").replace_strict(numbers, return_dtype=pl.UInt16))
    expected = stored.with_columns(pl.col("time_us").cast(pl.Float32)).sort(keys)
    shown = shown.sort(keys)
    for name in expected.columns:
        assert shown[name].to_list() == expected[name].to_list(), name
    assert set(shown.columns) <= set(PARTS["queues"]) | set(PARTS["links"])
