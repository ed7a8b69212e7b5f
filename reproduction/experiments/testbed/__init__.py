# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The paper's hardware testbed (Figs. 5 and 6)."""
