# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The live prompt: its verbs by subject, the table of them, and Mininet's command line around it."""
