# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Background programs and daemons that users started in the hosts: found by network namespace, and ended."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil

from testbed.live.run import LiveNetwork
from testbed.system.cleanup import end_processes


def programs_of(network: LiveNetwork) -> list[psutil.Process]:
    """Return the processes in the hosts' network namespaces, except for the hosts' own shells."""
    shells = {network.emulation.host_pid(host.name) for host in network.plan.topology.hosts}
    spaces = {_namespace(pid) for pid in shells} - {None}
    return [
        process for process in psutil.process_iter() if process.pid not in shells and _namespace(process.pid) in spaces
    ]


def end_programs(network: LiveNetwork) -> int:
    """End all programs in the hosts and return how many there were."""
    programs = programs_of(network)
    end_processes(programs)
    return len(programs)


def _namespace(pid: int) -> str | None:
    with suppress(OSError):
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    return None
