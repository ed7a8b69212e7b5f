# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run from plan to folder, what it needs of the machine, and its files for others."""
