# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The refusal of a request."""

from __future__ import annotations


class UsageError(Exception):
    """Bad input: nothing was started. The message is one line for the user. The command exits with status 2."""
