# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How many processes serve the hosts of a live run."""

from __future__ import annotations

from testbed.system.limits import cores

_HOSTS_PER_AGENT = 256


def agent_count(hosts: int) -> int:
    """One agent a core, more where one would serve too many hosts, never more than hosts."""
    return max(1, min(hosts, max(cores(), -(-hosts // _HOSTS_PER_AGENT))))
