# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Turns a request into a checked plan with everything that a run needs. Starts nothing."""
