# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The userspace NIC and sender shim."""

from compiled.modules import install

install()
