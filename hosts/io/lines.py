# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Lines out and lines in, over descriptors that must never make the loop wait."""

import os
from contextlib import suppress

_CHUNK_BYTES = 1 << 16


class LineWriter:
    """Buffers lines and writes what the reader takes."""

    def __init__(self, descriptor: int) -> None:
        """Makes the descriptor non-blocking."""
        self._descriptor = descriptor
        self._pending = bytearray()
        os.set_blocking(descriptor, False)

    def write(self, line: bytes) -> None:
        """Queue one line, its end included."""
        self._pending += line

    def flush(self) -> bool:
        """Write as much as goes without waiting; True if nothing is left. A reader that has gone takes everything."""
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
        """Write everything, however long the reader takes. For the end, when nothing is urgent any more."""
        os.set_blocking(self._descriptor, True)
        self.flush()


class LineReader:
    """Splits what arrives into lines."""

    def __init__(self, descriptor: int) -> None:
        """Makes the descriptor non-blocking."""
        self._descriptor = descriptor
        self._partial = b""
        self.is_closed = False
        os.set_blocking(descriptor, False)

    def lines(self) -> list[str]:
        """Whole lines that have arrived; sets `is_closed` at the end of the input."""
        with suppress(BlockingIOError):
            while chunk := os.read(self._descriptor, _CHUNK_BYTES):
                self._partial += chunk
            self.is_closed = True
        *whole, self._partial = self._partial.split(b"\n")
        return [line.decode(errors="replace") for line in whole]
