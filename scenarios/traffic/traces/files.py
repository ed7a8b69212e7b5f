# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads the trace of a file, in the format that its content has."""

from __future__ import annotations

from pathlib import Path

from sfc_testbed.request.bounded_file import FileRefused, read_bounded_text
from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.traces.chakra import SUFFIX, parse_chakra, rank_files
from sfc_testbed.scenarios.traffic.traces.goal import is_goal, parse_goal
from sfc_testbed.scenarios.traffic.traces.operations import Trace
from sfc_testbed.scenarios.traffic.traces.simai import is_simai, parse_simai

MAX_FILE_BYTES = 500_000_000
EXAMPLE = "training"
_DATA = Path(__file__).parent.parent / "data"


def read_trace(path: Path, *, shares_nics: bool = False, passes: int = 1) -> Trace:
    """Read a trace. ScenarioError, one line, if it is invalid or cannot be represented."""
    if path == Path(EXAMPLE) and not path.exists():
        path = _DATA / f"{EXAMPLE}.goal"
    files = rank_files(path) if path.suffix == SUFFIX or not path.exists() else None
    if files is not None:
        return parse_chakra(files)
    try:
        lines = read_bounded_text(path, MAX_FILE_BYTES).splitlines()
    except FileNotFoundError as error:
        raise ScenarioError("cannot be read as a trace: no such file") from error
    except FileRefused as error:
        raise ScenarioError(f"cannot be read as a trace: it {error}") from error
    if is_goal(lines):
        return parse_goal(lines, shares_nics=shares_nics)
    if is_simai(lines):
        return parse_simai(lines, passes=passes)
    raise ScenarioError(
        "not a trace: a GOAL schedule begins with `num_ranks N`, a SimAI workload with "
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD, and a Chakra trace has files NAME.0.et, NAME.1.et, ..."
    )
