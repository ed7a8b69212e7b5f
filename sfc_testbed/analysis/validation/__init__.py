# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The comparison of a live run with the virtual run of the same flows: its metrics and their tolerances."""
