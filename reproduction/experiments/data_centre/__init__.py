# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Data-centre traffic on a Clos (Figs. 2, 6 to 12, Table 2)."""
