# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The control plane of the switches: their settings, table entries, commands and routes around dead links."""
