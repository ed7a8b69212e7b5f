# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A private network namespace per run, in which Mininet creates the switches and their interfaces.

Interfaces of different runs and of the machine cannot collide. The kernel removes the namespace with its last process.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sfc_testbed.hosts.io.namespaces import leave_namespace, new_network_namespace


def can_make_namespaces() -> str | None:
    """Return why this process cannot create network namespaces, or None if it can."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            leave_namespace()
            status = 0
        except OSError as error:
            status = error.errno or 1
        finally:
            os._exit(status)  # in any case, also on Ctrl-C: the child must never continue as a second command
    _, status = os.waitpid(child, 0)
    number = os.waitstatus_to_exitcode(status)
    return None if number == 0 else os.strerror(number)


@contextmanager
def private_network() -> Iterator[None]:
    """Move this thread into a new network namespace without IPv6, and back at the end."""
    with new_network_namespace():
        disable_ipv6()
        yield


def in_network_of(pid: int, *words: str) -> list[str]:
    """Return the command that runs a program in the network namespace of a process, but in no other namespace of it."""
    return ["nsenter", "--target", str(pid), "--net", "--", *words]


def disable_ipv6() -> None:
    """Disable IPv6 in the current namespace, so that no neighbour discovery enters the modelled network."""
    for interfaces in ("all", "default"):
        setting = Path(f"/proc/sys/net/ipv6/conf/{interfaces}/disable_ipv6")
        if setting.exists():
            setting.write_text("1")
