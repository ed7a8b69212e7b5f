# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""One bottleneck at a time (Figs. 1, 13, 15, appendix C)."""
