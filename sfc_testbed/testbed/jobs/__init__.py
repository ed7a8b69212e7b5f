# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Execution of many runs: the engine behind sweeps and reproductions."""
