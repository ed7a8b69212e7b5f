# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Programs that people started in the hosts, in the background or as daemons: found by where they live, and ended."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import psutil

from testbed.live.run import LiveNetwork
from testbed.system.cleanup import end_processes


def programs_of(network: LiveNetwork) -> list[psutil.Process]:
    """Processes in a host's network namespace, the host's own shell left out."""
    shells = {network.emulation.host_pid(host.name) for host in network.plan.topology.hosts}
    spaces = {_namespace(pid) for pid in shells} - {None}
    return [each for each in psutil.process_iter() if each.pid not in shells and _namespace(each.pid) in spaces]


def end_programs(network: LiveNetwork) -> int:
    """Ends them all; how many there were."""
    found = programs_of(network)
    end_processes(found)
    return len(found)


def _namespace(pid: int) -> str | None:
    with suppress(OSError):
        return str(Path(f"/proc/{pid}/ns/net").readlink())
    return None
