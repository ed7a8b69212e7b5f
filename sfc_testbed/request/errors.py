# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The base of the errors that users see, and the refusal of a request."""

from __future__ import annotations


class Error(Exception):
    """The base of errors whose message is one line for the user."""

    __module__ = "sfc_testbed"  # the name by which users catch it


class UsageError(Error):
    """Bad input: nothing was started. The message is one line for the user. The command exits with status 2."""

    __module__ = "sfc_testbed"
