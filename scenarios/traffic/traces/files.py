# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads the trace of a file, in the format that its content has. The reader of a format is imported when it is used."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from sfc_testbed.request.bounded_file import FileRefused, read_bounded_text
from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.traces.operations import Trace

MAX_FILE_BYTES = 500_000_000
EXAMPLE = "training"
_DATA = Path(__file__).parent.parent / "data"
_CHAKRA_SUFFIX = ".et"
_FIRST_ROWS = 1_000
"""The rows among which the first that is neither empty nor a comment must be."""
_SIMAI_POLICIES = (
    "DATA", "MODEL", "MICRO", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA", "HYBRID_DLRM", "HYBRID_DLRM_ENHANCED",
    "DISTRIBUTED_INFERENCE", "HYBRID_TRANSFORMER", "HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_CUSTOMIZED",
)  # fmt: skip


def read_trace(path: Path, *, shares_nics: bool = False, passes: int = 1) -> Trace:
    """Read a trace. ScenarioError, one line, if it is invalid or cannot be represented."""
    if path == Path(EXAMPLE) and not _exists(path):
        path = _DATA / f"{EXAMPLE}.goal"
    trace = read_chakra(path)
    if trace is not None:
        return trace
    try:
        lines = read_bounded_text(path, MAX_FILE_BYTES).splitlines()
    except FileNotFoundError as error:
        raise ScenarioError("cannot be read as a trace: no such file") from error
    except FileRefused as error:
        raise ScenarioError(f"cannot be read as a trace: it {error}") from error
    if is_goal(lines):
        return goal_trace(lines, shares_nics=shares_nics)
    if is_simai(lines):
        return simai_trace(lines, passes=passes)
    raise ScenarioError(
        "not a trace: a GOAL schedule begins with `num_ranks N`, a SimAI workload with "
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD, and a Chakra trace has files NAME.0.et, NAME.1.et, ..."
    )


def read_chakra(path: Path) -> Trace | None:
    """Read a Chakra trace; None if the path is neither one of its files nor their name without `.RANK.et`."""
    if path.suffix != _CHAKRA_SUFFIX and _exists(path):
        return None
    from sfc_testbed.scenarios.traffic.traces.chakra import parse_chakra, rank_files

    files = rank_files(path)
    return None if files is None else parse_chakra(files)


def _exists(path: Path) -> bool:
    return os.path.exists(path)  # noqa: PTH110 (unlike Path.exists, also answers for a name that is too long)


def is_goal(lines: Sequence[str]) -> bool:
    """Whether a file begins with the number of ranks, after comments."""
    first = next((line.lstrip() for line in lines[:_FIRST_ROWS] if not _is_comment(line)), "")
    return first.startswith("num_ranks")


def is_simai(lines: Sequence[str]) -> bool:
    """Whether a file begins with a policy of SimAI's workloads, after comments."""
    first = next((line.split() for line in lines[:_FIRST_ROWS] if not _is_comment(line)), [])
    return bool(first) and first[0] in _SIMAI_POLICIES


def _is_comment(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(("//", "#", "/*", "*"))


def goal_trace(lines: Sequence[str], *, shares_nics: bool = False) -> Trace:
    """Parse a GOAL schedule."""
    from sfc_testbed.scenarios.traffic.traces.goal import parse_goal

    return parse_goal(lines, shares_nics=shares_nics)


def simai_trace(lines: Sequence[str], *, passes: int = 1) -> Trace:
    """Parse a SimAI workload."""
    from sfc_testbed.scenarios.traffic.traces.simai import parse_simai

    return parse_simai(lines, passes=passes)
