# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Experiments on a single bottleneck (Figs. 1, 13, 15, appendix C)."""
