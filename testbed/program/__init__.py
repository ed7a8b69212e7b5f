# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The P4 program of a run's switches: the testbed's own or one that somebody gives, and whether it can be run."""
