# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run on the real clock: Mininet, agents, captures, background programs, and the prompt with its verbs."""
