# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How do I add my own network? This file adds one: switches in a ring.

    ./runner.py list --topologies --use examples/own_topology.py
    ./runner.py compare incast --use examples/own_topology.py --topology circle \
        --set topology.switches=5 --set degree=6 --schemes irn,sfc --clock virtual

Addresses, routes, thresholds and ideal completion times follow from nodes and links. To run it live, add `sudo` and
leave out `--clock virtual`.
"""

from pydantic import Field

import sfc_testbed as sfc


@sfc.topology("circle")
class Circle(sfc.Shape):
    """Switches in a circle, each linked to the next."""

    switches: int = Field(4, ge=3, le=50, description="Number of switches; all have hosts.")
    hosts: int = Field(4, ge=1, le=50, description="Hosts of each switch.")
    ring_rate_bps: int = Field(400_000_000_000, description="Rate of a link between switches.")

    def build(self) -> sfc.Topology:
        """Return the nodes and links."""
        builder = self.new_builder()
        names = [builder.add_switch(f"s{number + 1}", has_hosts=True) for number in range(self.switches)]
        self.add_hosts(builder, dict.fromkeys(names, self.hosts))
        for here, following in zip(names, [*names[1:], names[0]], strict=True):
            builder.add_link(here, following, self.ring_rate_bps, 1_500)
        return builder.build()
