# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A network namespace of the run's own, in which Mininet builds its switches' side.

Runs cannot meet each other's interfaces or the machine's, and the kernel removes all of it with the last process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hosts.io.namespaces import leave_namespace, new_network_namespace


def can_make_namespaces() -> str | None:
    """None if this process may make network namespaces, else why not."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            leave_namespace()
            status = 0
        except OSError as error:
            status = error.errno or 1
        finally:
            os._exit(status)  # whatever happens, Ctrl-C too: there must not be two of us
    _, status = os.waitpid(child, 0)
    number = os.waitstatus_to_exitcode(status)
    return None if number == 0 else os.strerror(number)


@contextmanager
def private_network() -> Iterator[None]:
    """Moves this thread into a new network namespace without IPv6, and back at the end."""
    with new_network_namespace():
        disable_ipv6()
        yield


def in_network_of(pid: int, *words: str) -> list[str]:
    """What starts a program of this machine's in the network namespace of a process, and in nothing else of it."""
    return ["nsenter", "--target", str(pid), "--net", "--", *words]


def disable_ipv6() -> None:
    """Keeps the kernel from sending neighbour discovery into the modelled network, from the current namespace."""
    for each in ("all", "default"):
        setting = Path(f"/proc/sys/net/ipv6/conf/{each}/disable_ipv6")
        if setting.exists():
            setting.write_text("1")
