# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Other simulators: their input and output files, and the comparison of our virtual clock with each of them."""
