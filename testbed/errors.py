# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The ways in which a run can be refused, fail, or be cut short. Each is one line for people."""

from __future__ import annotations


class UsageError(Exception):
    """Bad input: nothing was started. The command exits with 2."""


class RunError(Exception):
    """A run that could not go on; what was measured until then is kept."""


class Crashed(RunError):
    """A run that an exception in the host engine or in one of its algorithms ended."""


class Interrupted(Exception):
    """Ctrl-C or SIGTERM; the text, if any, says what was kept and where. The command exits with 130."""
