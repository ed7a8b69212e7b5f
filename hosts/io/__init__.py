# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Sockets, namespaces and the real clock: the only part of the hosts that does I/O."""
