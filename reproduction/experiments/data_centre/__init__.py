# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Data-centre traffic on a Clos (Figs. 2, 7 to 12, 14 and 16, Table 2)."""
