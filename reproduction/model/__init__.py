# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What an experiment is made of: grids of runs, claims, quantities, figures, and the formulas of the theory."""
