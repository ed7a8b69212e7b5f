# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Non-blocking reading and writing of lines over descriptors."""

import os
from contextlib import suppress

_CHUNK_BYTES = 1 << 16


class LineWriter:
    """A writer that buffers lines until the reader can take them."""

    def __init__(self, descriptor: int) -> None:
        """Make the descriptor non-blocking."""
        self._descriptor = descriptor
        self._pending = bytearray()
        os.set_blocking(descriptor, False)

    def write(self, line: bytes) -> None:
        """Queue a line, which includes its newline."""
        self._pending += line

    def flush(self) -> bool:
        """Write as much as possible without blocking and return whether everything is written.

        If the reader has closed its end, all queued lines are discarded and the result is True.
        """
        try:
            while self._pending:
                written = os.write(self._descriptor, self._pending[:_CHUNK_BYTES])
                del self._pending[:written]
        except BlockingIOError:
            return False
        except BrokenPipeError:
            self._pending.clear()
        return True

    def drain(self) -> None:
        """Write everything and block until the reader has taken it; for use at the end of a run."""
        os.set_blocking(self._descriptor, True)
        self.flush()


class LineReader:
    """A reader that splits its input into lines."""

    def __init__(self, descriptor: int) -> None:
        """Make the descriptor non-blocking."""
        self._descriptor = descriptor
        self._partial = b""
        self.is_closed = False
        os.set_blocking(descriptor, False)

    def lines(self) -> list[str]:
        """Return the complete lines that have arrived; sets `is_closed` at the end of the input."""
        with suppress(BlockingIOError):
            while chunk := os.read(self._descriptor, _CHUNK_BYTES):
                self._partial += chunk
            self.is_closed = True
        *complete_lines, self._partial = self._partial.split(b"\n")
        return [line.decode(errors="replace") for line in complete_lines]
