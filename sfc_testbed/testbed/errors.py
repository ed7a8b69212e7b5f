# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Exceptions that refuse, fail or interrupt a run. Each message is one line, written for the user."""

from __future__ import annotations

from sfc_testbed.request.errors import Error as Error
from sfc_testbed.request.errors import UsageError as UsageError


class RunError(Error):
    """A failed run. The measurements up to the failure are kept."""

    __module__ = "sfc_testbed"


class Crashed(RunError):
    """A run ended by an exception in the host engine or in a congestion control algorithm."""


class Interrupted(Exception):
    """Ctrl-C or SIGTERM. The message, if any, says what was kept and where. The command exits with status 130."""
