# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Child processes of a run. They carry the run ID."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from processes.child import Child
from testbed.errors import RunError
from testbed.system.run_ids import RUN_VARIABLE

_ROOT = Path(__file__).resolve().parents[2]
"""The folder of the packages. Paths given to a child are absolute."""


class RunChild(Child):
    """A process of the run."""

    failure = RunError

    def __init__(
        self, name: str, arguments: Sequence[str], run_id: str, log: Path, *, merges_stderr: bool = False
    ) -> None:
        super().__init__(
            name,
            arguments,
            log=log,
            folder=_ROOT,
            variables={RUN_VARIABLE: run_id},
            merges_stderr=merges_stderr,
        )
