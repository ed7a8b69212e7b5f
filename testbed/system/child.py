# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Child processes of a run. They carry the run ID and communicate in lines."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from testbed.errors import RunError
from testbed.system.run_ids import RUN_VARIABLE
from testbed.system.waiting import readable

_ROOT = Path(__file__).resolve().parents[2]
_STOP_SECONDS = 10.0
_STOPPED_SECONDS = 5.0
"""Time after which a child stopped by SIGSTOP counts as failed. Shorter pauses appear as lateness."""
_REAP_SECONDS = 1.0
"""Time to wait for the end of a child whose connection has ended."""


class Child:
    """A process of the run. Its stderr goes to a log, and its stdout is read as lines without blocking.

    `errors_are_lines` is for programs that report on stderr that they are ready: stdout and stderr are both read as
    lines, and all lines go to the log. Raise RunError if the program is missing or cannot be executed.
    """

    def __init__(
        self, name: str, arguments: Sequence[str], run_id: str, log: Path, *, errors_are_lines: bool = False
    ) -> None:
        self.name = name
        self._log = log
        self._logs_lines = errors_are_lines
        self._partial = b""
        self._stopped_since: float | None = None
        self.rest: list[str] = []
        """The lines that were still unread when the child was stopped."""
        with log.open("wb") as errors:
            try:
                self._process = subprocess.Popen(
                    list(arguments),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT if errors_are_lines else errors,
                    env={**os.environ, RUN_VARIABLE: run_id},
                    cwd=_ROOT,  # the folder of the packages; paths given to a child are absolute
                    start_new_session=True,  # only the runner handles Ctrl-C
                )
            except (FileNotFoundError, PermissionError) as error:
                raise RunError(f"{name} cannot be started: {arguments[0]}: {error.strerror}") from error
        os.set_blocking(self._stdout.fileno(), False)

    def fileno(self) -> int:
        return self._stdout.fileno()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def trouble(self) -> str | None:
        """Return why the child no longer works, as one line, or None. Call this regularly: it measures stopped time."""
        if self.has_ended:
            return self.obituary()
        if not _is_stopped(self.pid):
            self._stopped_since = None
            return None
        now = time.monotonic()
        self._stopped_since = self._stopped_since or now
        if now - self._stopped_since < _STOPPED_SECONDS:
            return None
        return f"{self.name} has been stopped by a signal for {_STOPPED_SECONDS:g} s ({self._log_words()})"

    def why_silent(self, error: OSError) -> str:
        """Return why the child does not answer, as one line."""
        with suppress(subprocess.TimeoutExpired):
            if not isinstance(error, TimeoutError):
                self._process.wait(_REAP_SECONDS)
        if self.has_ended:
            return self.obituary()
        return f"{self.name} does not answer ({error}; {self._log_words()})"

    def obituary(self) -> str:
        """Return how the child ended, its last line of output and the place of its log, as one line."""
        return f"{self.name} {how_ended(self._process.returncode)} ({self._log_words()})"

    def _log_words(self) -> str:
        return log_words(self._log)

    def lines(self) -> list[str]:
        """Return the complete lines that have arrived on stdout since the last call."""
        while chunk := self._stdout.read(1 << 20):
            self._partial += chunk
        *whole, self._partial = self._partial.split(b"\n")
        if self._logs_lines and whole:
            with self._log.open("ab") as log:
                log.writelines(line + b"\n" for line in whole)
        return [line.decode(errors="replace") for line in whole]

    def wait_for_line(self, wanted: str, seconds: float) -> list[str]:
        """Wait for a line that contains `wanted` and return all lines so far.

        RunError if the child ends or time is up.
        """
        deadline = time.monotonic() + seconds
        seen: list[str] = []
        while True:
            seen += self.lines()
            if any(wanted in line for line in seen):
                return seen
            if self.has_ended:
                raise RunError(f"before it was ready {self.obituary()}")
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise RunError(f"{self.name} was not ready within {seconds:g} s: {self.last_words()}")
            readable([self], min(remaining, 0.2))

    def tell(self, line: str) -> None:
        """Write a line to the child's stdin. A child that has ended is ignored here and detected elsewhere."""
        with suppress(BrokenPipeError):
            self._stdin.write(line.encode() + b"\n")
            self._stdin.flush()

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the child has ended."""
        self._process.send_signal(number)

    def stop(self) -> int:
        """End the child with SIGTERM, and with SIGKILL after a timeout. Return the exit status."""
        if self._stdout.closed:
            return self._process.returncode
        if not self.has_ended:
            self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        with suppress(BrokenPipeError):  # the buffer may hold a line that a dead child did not read
            self._stdin.close()
        self.rest = self.lines()
        self._stdout.close()
        return status

    def last_words(self) -> str:
        """Return the last line of the log. If the log is empty, return the signal that killed the child."""
        status = self._process.poll()
        killed = f"killed by {signal.Signals(-status).name}" if status is not None and status < 0 else ""
        return _last_line(self._log) or killed or "no output"

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin


def how_ended(status: int) -> str:
    """Describe an exit status, as a phrase that follows the child's name."""
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def log_words(log: Path) -> str:
    """Return the last line of a child's log and the log's place."""
    return f"{_last_line(log) or 'no output'}; see {log.parent.name}/{log.name}"


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def _is_stopped(pid: int) -> bool:
    """Return whether a signal has stopped a process. Its name may contain ")", so parsing starts at the last one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "T"
    except (OSError, IndexError):
        return False
