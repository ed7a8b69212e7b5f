# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The number of processes that serve the hosts of a live run."""

from __future__ import annotations

from testbed.system.limits import cores

_HOSTS_PER_AGENT = 256


def agent_count(hosts: int) -> int:
    """Return the number of agents: one per core, more for very many hosts, and at most one per host."""
    return max(1, min(hosts, max(cores(), -(-hosts // _HOSTS_PER_AGENT))))
