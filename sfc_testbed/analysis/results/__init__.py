# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The result of a run: its fields, its computation, the verdict, its files, and the comparison of several runs."""
