# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks of slow links against the settings of hosts and switches. Runs without faults do not import this module."""

from __future__ import annotations

from collections.abc import Sequence

from sfc_testbed.scenarios.faults.fault import Fault
from sfc_testbed.scenarios.faults.links import SlowLink
from sfc_testbed.testbed.control_plane.commands import Configured
from sfc_testbed.testbed.control_plane.fixed_point import FixedPointError
from sfc_testbed.testbed.control_plane.slow_links import slow_link_lines
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.topologies.model import Topology
from sfc_testbed.wire.dilation import Dilation


def check_rate_codes(link_rates_bps: Sequence[int], faults: Sequence[Fault], topology: Topology) -> None:
    """Raise UsageError for a slow link whose rate has no code in compact telemetry, if the NICs use that layout."""
    if not link_rates_bps:
        return
    for fault in (fault for fault in faults if isinstance(fault, SlowLink)):
        for link in fault.links(topology):
            if fault.rate_bps(link) not in link_rates_bps:
                raise UsageError(
                    f"--fault {fault}: compact telemetry has no code for a link of {fault.rate_bps(link)} bit/s; "
                    "use --set transport.int_layout=growing"
                )


def check_slow_links(topology: Topology, faults: Sequence[Fault], dilation: Dilation, configured: Configured) -> None:
    """Raise UsageError for a slow link that the data plane cannot represent at this dilation."""
    for fault in faults:
        try:
            list(slow_link_lines(topology, [fault], dilation, configured))
        except FixedPointError as error:
            raise UsageError(
                f"--fault {fault}: {error} at dilation {dilation.factor}; use a smaller --dilation or a larger rate"
            ) from error
