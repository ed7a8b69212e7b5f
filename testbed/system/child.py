# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Child processes of a run: they carry its id, speak in lines, and are waited for, never slept for."""

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
"""A child that somebody has stopped (SIGSTOP) for as long will not go on; shorter pauses show as lateness."""
_REAP_SECONDS = 1.0
"""Between the end of a connection to a child and that of the child."""


class Child:
    """A process of the run. Its stderr goes to a log, its stdout is read as lines without ever blocking.

    With `errors_are_lines`, of a program that says on stderr that it is ready, both are lines, and all go to the log.
    RunError if its program is gone or must not run.
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
        """The lines of its end, once it has been stopped."""
        with log.open("wb") as errors:
            try:
                self._process = subprocess.Popen(
                    list(arguments),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT if errors_are_lines else errors,
                    env={**os.environ, RUN_VARIABLE: run_id},
                    cwd=_ROOT,  # where our packages are; paths given to a child are absolute
                    start_new_session=True,  # Ctrl-C is the runner's to handle
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
        """Why it does not do its work any more, as one line; None while it does. To be asked again and again."""
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
        """Why it does not answer, as one line."""
        with suppress(subprocess.TimeoutExpired):
            if not isinstance(error, TimeoutError):
                self._process.wait(_REAP_SECONDS)
        if self.has_ended:
            return self.obituary()
        return f"{self.name} does not answer ({error}; {self._log_words()})"

    def obituary(self) -> str:
        """How it ended, what it said last and where its log is, as one line."""
        return f"{self.name} {how_ended(self._process.returncode)} ({self._log_words()})"

    def _log_words(self) -> str:
        return log_words(self._log)

    def lines(self) -> list[str]:
        """The whole lines that have arrived on its stdout since the last call."""
        while chunk := self._stdout.read(1 << 20):
            self._partial += chunk
        *whole, self._partial = self._partial.split(b"\n")
        if self._logs_lines and whole:
            with self._log.open("ab") as log:
                log.writelines(line + b"\n" for line in whole)
        return [line.decode(errors="replace") for line in whole]

    def wait_for_line(self, wanted: str, seconds: float) -> list[str]:
        """Waits until a line contains `wanted`; all lines until then. RunError if the process ends or time is up."""
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
        """Writes a line to its stdin; one that has gone is noticed elsewhere."""
        with suppress(BrokenPipeError):
            self._stdin.write(line.encode() + b"\n")
            self._stdin.flush()

    def send_signal(self, number: int) -> None:
        """Unless it has ended."""
        self._process.send_signal(number)

    def stop(self) -> int:
        """Ends it with SIGTERM, with SIGKILL if it does not listen; its exit status."""
        if self._stdout.closed:
            return self._process.returncode
        if not self.has_ended:
            self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        with suppress(BrokenPipeError):  # what could not be told to a dead child is still in the buffer
            self._stdin.close()
        self.rest = self.lines()
        self._stdout.close()
        return status

    def last_words(self) -> str:
        """The last line of its log, or what ended it without a word."""
        status = self._process.poll()
        killed = f"killed by {signal.Signals(-status).name}" if status is not None and status < 0 else ""
        return _last_line(self._log) or killed or "it said nothing"

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin


def how_ended(status: int) -> str:
    """An exit status in words."""
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def log_words(log: Path) -> str:
    """What a child said last, and where."""
    return f"{_last_line(log) or 'it said nothing'}; see {log.parent.name}/{log.name}"


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else ""


def _is_stopped(pid: int) -> bool:
    """Whether a signal keeps it from running; its name, which may hold anything, ends with the last parenthesis."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "T"
    except (OSError, IndexError):
        return False
