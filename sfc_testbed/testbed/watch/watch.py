# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page of a command's active runs: its address, and the recorders that feed it."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from os_helpers.child import Child
from sfc_testbed.place import neutral_folder
from sfc_testbed.telemetry.flow_parts import PLANNED, RECEIVED, SENT
from sfc_testbed.telemetry.planned import planned_paths, read_planned
from sfc_testbed.telemetry.schema import GOODPUT, SIGNALS, TraceSchema
from sfc_testbed.telemetry.writer import RowValues, SegmentWriter
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.watch.channel import Sender
from sfc_testbed.testbed.watch.feed import Feed

_SHOWN = (SIGNALS, GOODPUT, SENT, RECEIVED)
"""The schemas of the records that the page needs."""
_MODULE = "sfc_testbed.testbed.watch.process"
_READY_SECONDS = 30.0
_LAST_SECONDS = 3.0
"""Time that the end of the command may wait for the server."""


class _CopyingWriter(SegmentWriter):
    """A writer that also gives each row to `copy`."""

    def __init__(self, folder: Path, schema: TraceSchema, copy: Callable[[str, RowValues], None]) -> None:
        super().__init__(folder, schema)
        self._copy = copy

    def append_values(self, values: RowValues) -> None:
        super().append_values(values)
        self._copy(self.schema.name, values)


class WatchedRecorder(Recorder):
    """A recorder whose records also go to the page. `samples`: the switches' files, if they are not in the folder."""

    def __init__(self, plan: RunPlan, folder: Path, feed: Feed, samples: Mapping[str, Path] | None = None) -> None:
        self._feed = feed
        super().__init__(plan, folder)
        switches = [switch.name for switch in plan.topology.switches]
        self._samples = samples or {name: self._journal.samples(name) for name in switches}
        config = plan.config
        title = ", ".join([f"{config.scenario} · {config.variant}", *config.overridden])
        planned = (read_planned(path) for path in planned_paths(self._journal.segments(PLANNED)))
        feed.begin(plan, title, next(planned, PLANNED.empty()))  # the first flows

    @property
    def is_save_due(self) -> bool:
        """Whether records should be saved now. The clocks ask this often, so the copies are sent here."""
        self._feed.flush_if_due()
        return super().is_save_due

    def begin(self, start_ns: int, zero_ns: int | None = None) -> None:
        super().begin(start_ns, zero_ns)
        self._feed.start(self._samples, start_ns, zero_ns)

    def writer(self, schema: TraceSchema) -> SegmentWriter:
        folder = self._journal.segments(schema)
        return _CopyingWriter(folder, schema, self._feed.add) if schema in _SHOWN else super().writer(schema)


class _ServerProcess(Child):
    error_class = RunError


class Watch:
    """The page of runs that follow one another."""

    def __init__(self, server: Child, feed: Feed, samples: Mapping[str, Path] | None) -> None:
        *_, line = server.wait_for_line("ready", _READY_SECONDS)
        self.url = line.split()[1]
        """The address of the page, with its secret token."""
        self.feed = feed
        self._server = server
        self._samples = samples

    @property
    def trouble(self) -> str | None:
        """The reason why the page ended early, as one line; None if it did not. Runs go on without a page."""
        return self._server.trouble()

    def recorder(self, plan: RunPlan, folder: Path) -> Recorder:
        """Return the recorder of a run, which begins on the page."""
        return WatchedRecorder(plan, folder, self.feed, self._samples)

    def end(self, sentence: str, notes: Sequence[str] = ()) -> None:
        """End the run on the page with a sentence, such as its verdict, and with notes that explain it."""
        self.feed.end(sentence, notes)


@contextmanager
def watching(samples: Mapping[str, Path] | None = None) -> Iterator[Watch]:
    """Provide the page. Its server is a process of its own and ends with the context, or with this process.

    `samples`: the sample file of each switch, for switches that do not write into the folders of runs.
    """
    own, other = socket.socketpair()
    arguments = [sys.executable, "-m", _MODULE]
    with own, other:
        server = _ServerProcess("the server of the page", arguments, folder=neutral_folder(), stdin=other.fileno())
        other.close()
        sender = Sender(own)
        try:
            yield Watch(server, Feed(sender), samples)
        finally:
            sender.finish(_LAST_SECONDS)
            server.stop()
