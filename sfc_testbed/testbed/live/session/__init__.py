# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A live network as an object: messages, switches, links and schemes while the network runs."""
