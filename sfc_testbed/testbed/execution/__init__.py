# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Executes a plan and stores its results; checks what a run needs of the machine; exports stored runs."""
