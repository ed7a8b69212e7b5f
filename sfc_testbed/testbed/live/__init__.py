# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs on the real clock: Mininet, host agents, captures, background programs, and the prompt with its verbs."""
