# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Traces of applications: the operations of each rank, read from other programs' files and turned into messages."""
