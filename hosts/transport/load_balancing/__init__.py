# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Load balancings of hosts, one per file, and the table of their names."""

from sfc_testbed.hosts.transport.load_balancing.base import LoadBalancing
from sfc_testbed.request.table import Table

LOAD_BALANCINGS: Table[type[LoadBalancing]] = Table.of_modules(
    "load balancing of hosts",
    __name__,
    {
        "flow": "base:LoadBalancing",
        "oblivious": "oblivious:Oblivious",
        "reps": "reps:Reps",
        "plb": "plb:Plb",
    },
)

__all__ = ["LOAD_BALANCINGS", "LoadBalancing"]
