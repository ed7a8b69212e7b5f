# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page of a command's active runs: its address, and the recorders that feed it."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from os_helpers.child import Child
from sfc_testbed.place import neutral_folder
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.watch.channel import Sender
from sfc_testbed.testbed.watch.feed import Feed
from sfc_testbed.testbed.watch.recorder import WatchedRecorder

_MODULE = "sfc_testbed.testbed.watch.process"
_READY_SECONDS = 30.0
_LAST_SECONDS = 3.0
"""Time that the end of the command may wait for the server."""


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
