# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The end of a call by Ctrl-C."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or SIGTERM ended the work early. The message says what was kept and where.

    This is a KeyboardInterrupt, so that Ctrl-C ends a script even within `except sfc.Error` or `except Exception`.
    """

    __module__ = "sfc_testbed"

    def __init__(self, message: str = "", folders: Sequence[Path] = ()) -> None:
        super().__init__(message)
        self.folders = tuple(folders)
        """The folders of the results that are stored, for `sfc.load`."""
