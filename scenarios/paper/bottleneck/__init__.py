# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scenarios with a single bottleneck (Figs. 1, 13, 15, appendix C)."""
