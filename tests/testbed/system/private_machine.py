# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Private namespaces for attacks on `clean`. Commands in them see only their processes and a private `/run`."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65_534
_START = "mount -t tmpfs -o mode=755 tmpfs /run && echo up && exec sleep 600"


class PrivateMachine:
    """Process and mount namespaces, which exist as long as their first process."""

    def __init__(self, pid: int) -> None:
        self._enter = ["nsenter", "--target", str(pid), "--mount", "--pid"]

    def start(self, *words: str, uid: int = 0, run: str | None = None) -> subprocess.Popen[str]:
        """Start a process in the namespaces, with this user ID and this run ID in its environment."""
        mark = [] if run is None else ["env", f"SFC_TESTBED_RUN={run}"]
        user = [] if uid == 0 else ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]
        return subprocess.Popen(
            [*self._enter, *mark, *user, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def sleeper(self, *, uid: int = 0, run: str | None = None) -> subprocess.Popen[str]:
        """Start a process that sleeps, and return once it runs."""
        return _once_up(self.start("sh", "-c", "echo up; exec sleep 600", uid=uid, run=run))

    def run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        """Run a command as root in the namespaces and return its result."""
        return subprocess.run([*self._enter, *words], capture_output=True, check=False, timeout=60)


@contextmanager
def private_machine() -> Iterator[PrivateMachine]:
    """Yield new namespaces. At the end they are removed with all their processes."""
    words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", _START]
    process = _once_up(subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    try:
        [first] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        yield PrivateMachine(int(first))
    finally:
        end(process)


def end(process: subprocess.Popen[str]) -> None:
    """Kill a process and close its streams. Its children in the namespaces end with the namespaces."""
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
