# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Digests of a program as notifications: what becomes of them, and how they reach who listens."""
