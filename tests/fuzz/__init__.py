# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Inputs that nobody would send, tried on every place where the testbed takes something from outside."""
