# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The userspace NIC of each host, which also pauses flows for source flow control."""

from sfc_testbed.native.modules import install

install()
