# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Network models: links, addresses, routes, and the commands that configure the switches."""
