# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Child processes of a run. They carry the run ID."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from os_helpers.child import Child
from sfc_testbed.place import neutral_folder
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE


class RunChild(Child):
    """A process of the run. Its current folder is another one, so its arguments contain absolute paths."""

    error_class = RunError

    def __init__(
        self, name: str, arguments: Sequence[str], run_id: str, log: Path, *, merges_stderr: bool = False
    ) -> None:
        super().__init__(
            name,
            arguments,
            log=log,
            folder=neutral_folder(),
            variables={RUN_VARIABLE: run_id},
            merges_stderr=merges_stderr,
        )
