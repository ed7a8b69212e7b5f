# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Collectives: the messages of one iteration between ranks, one file per algorithm (docs/sources.md#collectives)."""
