# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The P4 program of a run's switches, either the testbed's or the user's, and whether it can be run."""
