# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""BMv2's Thrift control interface, implemented with the control commands of a running softswitch."""
