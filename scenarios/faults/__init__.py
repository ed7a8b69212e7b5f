# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Kinds of faults of a run, and the syntax in which users write them."""
