# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Child processes: start, communication in lines, supervision and end. Uses the standard library only.

Dask workers, which cannot import this module, receive it pickled by value (`testbed.jobs.cluster`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, ClassVar

from os_helpers.waiting import readable

_STOP_SECONDS = 10.0
_STOPPED_SECONDS = 5.0
"""Time after which a child stopped by SIGSTOP counts as failed. Shorter pauses appear as lateness."""
_REAP_SECONDS = 1.0
"""Time to wait for the end of a child whose connection has ended."""
_SILENT = "no output"


class ChildError(Exception):
    """A child does not start or is not ready in time; the message is one line."""


class Child:
    """A process whose stdout is read as lines without blocking. Its stderr goes to `log` or is kept in memory.

    `merges_stderr` is for programs that report on stderr that they are ready: stdout and stderr are both read as
    lines, and all lines go to the log. Raise `error_class` if the program is missing or cannot be executed. Ctrl-C in
    the terminal does not reach the child. The child itself asks to end with its parent (`os_helpers.parent`).
    """

    error_class: ClassVar[type[Exception]] = ChildError

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        *,
        log: Path | None = None,
        folder: str | Path | None = None,
        variables: Mapping[str, str] | None = None,
        stdin: int | IO[bytes] = subprocess.PIPE,
        merges_stderr: bool = False,
    ) -> None:
        self.name = name
        self._log = log
        self._logs_lines = merges_stderr
        self._partial = b""
        self._stopped_since: float | None = None
        self._kill_at: float | None = None
        self.rest: list[str] = []
        """The lines that were still unread when the child was stopped."""
        self._errors: IO[bytes] = log.open("wb") if log else os.fdopen(os.memfd_create("errors"), "wb")
        try:
            self._process = subprocess.Popen(
                list(arguments),
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT if merges_stderr else self._errors,
                env={**os.environ, **(variables or {})},
                cwd=folder,
                start_new_session=True,
            )
        except (FileNotFoundError, PermissionError) as error:
            self._errors.close()
            raise self.error_class(f"{name} cannot be started: {arguments[0]}: {error.strerror}") from error
        if log is not None:
            self._errors.close()  # the log is opened again to read it: large networks have many children
        os.set_blocking(self._stdout.fileno(), False)

    def fileno(self) -> int:
        return self._stdout.fileno()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether the child has ended. Kills a child that still runs long after `ask_to_end`."""
        if self._kill_at is not None and time.monotonic() > self._kill_at:
            self._process.kill()
        return self._process.poll() is not None

    @property
    def status(self) -> int | None:
        """The exit status, or None while the child runs."""
        return self._process.poll()

    def trouble(self) -> str | None:
        """Return why the child no longer works, as one line, or None. Call this regularly.

        A child that a signal has stopped counts as failed after `_STOPPED_SECONDS`, from the first call that finds it
        stopped.
        """
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
        return log_words(self._log) if self._log else (_last_line(self.errors()) or _SILENT)

    def errors(self) -> str:
        """Return what the child has written to its log or to stderr."""
        if self._log is not None:
            return self._log.read_text(errors="replace").strip()
        descriptor = self._errors.fileno()  # its file position is the child's too
        return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode(errors="replace").strip()

    def output(self) -> bytes:
        """Return what has arrived on stdout since the last call."""
        arrived = b""
        while chunk := self._stdout.read(1 << 20):
            arrived += chunk
        return arrived

    def lines(self) -> list[str]:
        """Return the complete lines that have arrived on stdout since the last call."""
        *whole, self._partial = (self._partial + self.output()).split(b"\n")
        if self._logs_lines and whole and self._log is not None:
            with self._log.open("ab") as log:
                log.writelines(line + b"\n" for line in whole)
        return [line.decode(errors="replace") for line in whole]

    def wait_for_line(self, wanted: str, seconds: float) -> list[str]:
        """Wait for a line that contains `wanted` and return all lines so far.

        Raise `error_class` if the child ends or time is up.
        """
        deadline = time.monotonic() + seconds
        seen: list[str] = []
        while True:
            seen += self.lines()
            if any(wanted in line for line in seen):
                return seen
            if self.has_ended:
                raise self.error_class(f"before it was ready {self.obituary()}")
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise self.error_class(f"{self.name} was not ready within {seconds:g} s: {self.last_words()}")
            readable([self], min(remaining, 0.2))

    def tell(self, line: str) -> None:
        """Write a line to the child's stdin. A child that has ended is ignored here and detected elsewhere."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the child has ended."""
        self._process.send_signal(number)

    def kill(self) -> None:
        """Kill the child at once."""
        self._process.kill()

    def ask_to_end(self, patience_s: float) -> None:
        """Send SIGTERM. `has_ended` kills the child if it still runs after `patience_s`."""
        self._kill_at = time.monotonic() + patience_s
        self._process.send_signal(signal.SIGTERM)

    def stop(self) -> int:
        """End the child with SIGTERM, and with SIGKILL after a timeout. Return the exit status."""
        if self._stdout.closed:
            return self._process.returncode
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        status = self._process.wait()
        self.rest = self.lines()
        self._close()
        return status

    def last_words(self) -> str:
        """Return the last line of the log. If the log is empty, return the signal that killed the child."""
        status = self._process.poll()
        killed = f"killed by {signal.Signals(-status).name}" if status is not None and status < 0 else ""
        return _last_line(self.errors()) or killed or _SILENT

    def _close(self) -> None:
        self._close_stdin()
        self._stdout.close()
        self._errors.close()

    def _close_stdin(self) -> None:
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):  # the buffer may hold a line that a dead child did not read
                self._process.stdin.close()

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout


def how_ended(status: int) -> str:
    """Describe an exit status, as a phrase that follows the child's name."""
    return f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"


def log_words(log: Path) -> str:
    """Return the last line of a child's log and the log's place."""
    return f"{_last_line(log.read_text(errors='replace')) or _SILENT}; see {log.parent.name}/{log.name}"


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


def _is_stopped(pid: int) -> bool:
    """Return whether a signal has stopped a process: the state after the last ")" in /proc/PID/stat is T."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] == "T"
    except (OSError, IndexError):
        return False
