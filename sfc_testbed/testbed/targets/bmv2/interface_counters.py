# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads the byte counters of the interfaces of a process's network namespace, in a container or not."""

from __future__ import annotations

from pathlib import Path

_RECEIVED, _SENT = 0, 8
_HEADINGS = 2


def interface_bytes(pid: int) -> dict[str, tuple[int, int]]:
    """Return the bytes that each interface has received and sent. Raise OSError if the process is gone."""
    return parsed(Path(f"/proc/{pid}/net/dev").read_text())


def parsed(table: str) -> dict[str, tuple[int, int]]:
    """Return received and sent bytes by interface from the text of /proc/net/dev."""
    rows = (line.partition(":") for line in table.splitlines()[_HEADINGS:])
    counts = {name.strip(): numbers.split() for name, _, numbers in rows}
    return {name: (int(numbers[_RECEIVED]), int(numbers[_SENT])) for name, numbers in counts.items()}
