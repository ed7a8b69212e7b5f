# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A topology: select it with `--topology two-rows`."""

from __future__ import annotations

from itertools import pairwise

from pydantic import Field

import sfc_testbed as sfc


@sfc.topology("two-rows")
class TwoRows(sfc.Shape):
    """Two rows of switches; each switch has a link to the next of its row and to its partner in the other row."""

    columns: int = Field(2, ge=1, le=50, description="Switches of each row.")
    hosts: int = Field(2, ge=1, le=50, description="Hosts of each switch.")
    link_rate_bps: int = Field(400_000_000_000, description="Rate of a link between switches.")

    def build(self) -> sfc.Topology:
        """Return the nodes and links."""
        builder = self.new_builder()
        rows = [
            [builder.add_switch(f"{row}{column + 1}", has_hosts=True) for column in range(self.columns)] for row in "ab"
        ]
        self.add_hosts(builder, dict.fromkeys([*rows[0], *rows[1]], self.hosts))
        along = [pair for row in rows for pair in pairwise(row)]
        across = list(zip(*rows, strict=True))
        for here, there in along + across:
            builder.add_link(here, there, self.link_rate_bps, 1_500)
        return builder.build()
