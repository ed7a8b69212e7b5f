# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Trace records: what a run writes down, in model units. Knows files and columns; knows no host, switch or metric."""
