# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""When a NIC sends what: its wire, and the pace of what it asks others to send."""
