# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""BMv2's `simple_switch` as a target of live runs: processes, commands over Thrift, slotted links, polled queues."""
