# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packet formats, units and time dilation: what hosts, switches and tests must agree on to the bit."""

from sfc_testbed.native.modules import install

install()
