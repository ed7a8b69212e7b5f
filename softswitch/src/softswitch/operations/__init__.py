# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Typed operations on a running switch over its control commands, for the Thrift and P4Runtime servers.

The functions raise CommandError if the switch refuses. Each server turns that error into the codes of its protocol.
"""
