# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A place to attack `clean` in: its commands see only their own processes and a `/run` of their own."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65_534
_START = "mount -t tmpfs -o mode=755 tmpfs /run && echo up && exec sleep 600"


class PrivateMachine:
    """Process and mount namespaces that last as long as the process they were made with."""

    def __init__(self, pid: int) -> None:
        self._enter = ["nsenter", "--target", str(pid), "--mount", "--pid"]

    def start(self, *words: str, uid: int = 0, run: str | None = None) -> subprocess.Popen[str]:
        """A process in there, of this user, with this run id in its environment."""
        mark = [] if run is None else ["env", f"SFC_TESTBED_RUN={run}"]
        user = [] if uid == 0 else ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
        return subprocess.Popen(
            [*self._enter, *mark, *user, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def sleeper(self, *, uid: int = 0, run: str | None = None) -> subprocess.Popen[str]:
        """A process that does nothing, once it is there."""
        return _once_up(self.start("sh", "-c", "echo up; exec sleep 600", uid=uid, run=run))

    def run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """What a command of root's says in there."""
        return subprocess.run([*self._enter, *words], capture_output=True, check=False, timeout=60)


@contextmanager
def private_machine() -> Iterator[PrivateMachine]:
    """Gone at the end, with all that was started in it."""
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", _START]
    process = _once_up(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    try:
        [first] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield PrivateMachine(int(first))
    finally:
        end(process)


def end(process: subprocess.Popen[str]) -> None:
    """Kills it and closes what it spoke through; what it started in there goes with the machine."""
    process.kill()
    process.wait()
    for stream in (process.stdout, process.stderr):
        assert stream is not None
        stream.close()


def _once_up(process: subprocess.Popen[str]) -> subprocess.Popen[str]:
    assert process.stdout is not None
    if process.stdout.readline() != "up\n":
        raise AssertionError(process.communicate()[1])
    return process
