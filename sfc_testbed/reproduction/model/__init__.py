# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The parts of an experiment: grids of runs, claims, quantities, figures, and the formulas of the theory."""
