# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The largest dilation, and the dilations that no predicted load determines: in virtual time, and of live networks."""

MAX_DILATION = 10_000_000
VIRTUAL_DILATION = 1_000
NETWORK_DILATION = 10_000
"""The default dilation of an interactive live network, whose hosts two cores can serve."""
