# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What can go wrong in a run, as data: kinds of faults and how a person writes them."""
