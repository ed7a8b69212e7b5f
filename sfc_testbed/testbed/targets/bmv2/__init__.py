# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The BMv2 target of live runs: `simple_switch` processes, commands over Thrift, slotted links and polled queues."""
