# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Plots of runs: shared functions (`canvas`), looks of curves (`palette`), and one module per kind of plot."""
