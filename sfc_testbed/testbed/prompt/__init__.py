# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The live prompt: its verbs by subject, the table of all verbs, and the shell that extends Mininet's command line."""
