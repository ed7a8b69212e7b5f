# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Plots of runs: the canvas, the looks, and one file for each kind of plot."""
