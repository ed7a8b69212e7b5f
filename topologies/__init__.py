# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Networks as data: their wiring, addresses, routes, and the commands that set up their switches."""
