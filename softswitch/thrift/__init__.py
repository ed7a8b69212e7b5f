# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""BMv2's control interface over Thrift, answered with the control commands of a running softswitch."""
