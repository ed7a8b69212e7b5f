# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The process that serves the page of a command's runs: `python -m sfc_testbed.testbed.watch.process`.

Its stdin is the connection to the runner (`watch.channel`), with which it ends. It has the lowest priority and, if root
started it, the rights of the user who called sudo, or the rights of nobody. Between two chunks it waits for
`LEAST_SECONDS`, and long enough that it uses at most `CORE_SHARE` of a core during a live run. A run in virtual time is
never late, so the process may use more.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

from os_helpers.parent import die_with_parent
from sfc_testbed.analysis.watch.chunk import chunk_of
from sfc_testbed.analysis.watch.page import live_page
from sfc_testbed.testbed.system.caller import caller
from sfc_testbed.testbed.watch.channel import Receiver
from sfc_testbed.testbed.watch.gathering import Gathering, SampleFile
from sfc_testbed.testbed.watch.server import ADDRESS, Server
from sfc_testbed.testbed.watch.stream import CHUNK, Stream

LEAST_SECONDS = 0.05
CORE_SHARE = 0.025
VIRTUAL_CORE_SHARE = 0.2
IDLE_SECONDS = 0.25
"""Time between two chunks in which nothing is new but the time."""
SCENE, END = "scene", "end"
_NOBODY = 65_534
_LAST_SECONDS = 1.0
"""Time in which pages can receive the last events when the command ends."""
_NICENESS = 19
_TOKEN_BYTES = 16


class ActiveRuns:
    """The runs of a command, one after the other, as events of the stream."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._gathering: Gathering | None = None
        self._nodes: dict[str, int] = {}
        self._added_s = 0.0
        self._zero_ns: int | None = None
        """Model time 0 on CLOCK_MONOTONIC; None before the run begins, and in virtual time."""
        self._is_virtual = False

    @property
    def core_share(self) -> float:
        """The fraction of a core that the process may use now."""
        return VIRTUAL_CORE_SHARE if self._is_virtual else CORE_SHARE

    def take(self, message: Mapping[str, Any], receiver: Receiver) -> None:
        """Execute a message of the runner."""
        kind = message["kind"]
        if kind == "begin":
            self.end("Another run begins.")
            self._gathering = Gathering(message["dilation"])
            self._zero_ns = None
            self._is_virtual = False
            self._nodes = {name: number for number, name in enumerate(message["scene"]["names"])}
            self._stream.add(SCENE, json.dumps(message["scene"], separators=(",", ":")))
        elif self._gathering is None:
            return
        elif kind == "files":
            names = message["switches"]
            files = receiver.files(len(names))
            self._gathering.open([SampleFile(*pair) for pair in zip(names, files, strict=True)])
        elif kind == "start":
            self._gathering.begin(message["start_ns"])
            self._zero_ns = message["zero_ns"]
            self._is_virtual = self._zero_ns is None
        elif kind == "planned":
            self._gathering.plan(message["flows"])
        elif kind == "records":
            self._gathering.add(message["records"])
        elif kind == "end":
            self.end(message["sentence"], message["notes"])

    def add_chunk(self, *, is_over: bool = False) -> bool:
        """Add an event with what is new; return whether more is to be read of a run that is over."""
        gathered = None if self._gathering is None else self._gathering.take(is_over=is_over)
        now_s = time.monotonic()
        is_quiet = not is_over and now_s < self._added_s + IDLE_SECONDS
        if gathered is None or (is_quiet and not gathered.parts):
            return False
        self._added_s = now_s
        chunk: dict[str, Any] = chunk_of(self._nodes, gathered.until_us, **gathered.parts)
        if gathered.is_thinned:
            chunk["is_thinned"] = True
        if self._zero_ns is not None:
            chunk["behind_ms"] = round((time.monotonic_ns() - self._zero_ns - gathered.until_ns) / 1e6)
        self._stream.add(CHUNK, json.dumps(chunk, separators=(",", ":"), allow_nan=False))
        return not gathered.is_last

    def end(self, sentence: str, notes: Sequence[str] = ()) -> None:
        """Add the rest of the run, and the event that the run has ended."""
        if self._gathering is None:
            return
        while self.add_chunk(is_over=True):
            pass
        self._gathering.close()
        self._gathering = None
        self._stream.add(END, json.dumps({"sentence": sentence, "notes": notes}))


async def _serve(receiver: Receiver, page: str) -> None:
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    stream = Stream()
    server = Server(page, token, stream)
    port = await server.start()
    _give_up_rights()
    os.nice(_NICENESS)  # not before, so that the process starts quickly
    print(f"ready http://{ADDRESS}:{port}/{token}/", flush=True)
    runs = ActiveRuns(stream)

    def read() -> None:
        for message in receiver.messages():
            runs.take(message, receiver)
        server.wake()
        if receiver.is_closed:
            loop.remove_reader(receiver.fileno())
            is_over.set()

    loop = asyncio.get_running_loop()
    is_over = asyncio.Event()
    loop.add_reader(receiver.fileno(), read)
    loop.add_signal_handler(signal.SIGTERM, is_over.set)
    used_s = time.process_time()
    while not is_over.is_set():
        runs.add_chunk()
        server.wake()
        before_s, used_s = used_s, time.process_time()
        try:
            await asyncio.wait_for(is_over.wait(), max(LEAST_SECONDS, (used_s - before_s) / runs.core_share))
        except asyncio.TimeoutError:
            continue
    runs.end("The command ended without a result.")
    await server.close(_LAST_SECONDS)


def _give_up_rights() -> None:
    """Continue with the rights of the user who called sudo; root without sudo becomes nobody."""
    if os.geteuid() == 0:
        user, group = caller() or (_NOBODY, _NOBODY)
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    die_with_parent()  # not before: a change of rights cancels it


def main() -> None:
    asyncio.run(_serve(Receiver(socket.socket(fileno=sys.stdin.fileno())), live_page()))


if __name__ == "__main__":
    main()
