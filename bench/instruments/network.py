# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Private networks for benchmarks: veth pairs in a namespace that the kernel removes with the last process in it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from bench.instruments.benchmark import Skipped
from sfc_testbed.testbed.system.namespace import can_make_namespaces, private_network


def require_root() -> None:
    """Raise Skipped unless this process is root and may make network namespaces."""
    if os.geteuid() != 0:
        raise Skipped("needs root")
    missing = can_make_namespaces()
    if missing is not None:
        raise Skipped(f"cannot make a network namespace: {missing}")


@contextmanager
def veth_pairs(pairs: Sequence[tuple[str, str]]) -> Iterator[None]:
    """Move this thread into a new network namespace that has these pairs of interfaces, with both ends up."""
    require_root()
    with private_network():
        _ip("link", "set", "lo", "up")
        for ends in pairs:
            _ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
            for end in ends:
                _ip("link", "set", end, "up")
        yield


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Skipped(f"ip {' '.join(words)}: {done.stderr.strip()}")
