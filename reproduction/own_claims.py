# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Claims that somebody makes about runs of their own: a Python file with `CLAIMS`, of the kinds that experiments have.

Runs go by what a comparison calls them, `sfc` or `sfc (mine)`; where they have several seeds, a claim must hold for
each.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from analysis.results.comparison import HeldClaim
from analysis.results.stored import load_run
from reproduction.model.experiment import Claim, Measured, Measurement, Point, Results, judge
from testbed.errors import UsageError
from wire.input.bounded_file import FileRefused, read_bounded_text
from wire.input.validation import shown

MOST_BYTES = 1_000_000
_MODULE = "claims_of_a_user"
_WORDS = ("claim", "paper")


def read_claims(path: Path) -> tuple[Claim, ...]:
    """What a file claims; it is executed. UsageError, one line, for one that cannot be."""
    try:
        read_bounded_text(path, MOST_BYTES)
    except FileNotFoundError as error:
        raise UsageError(f"--claims {path}: {error.strerror}") from error
    except FileRefused as error:
        raise UsageError(f"--claims {path} {error}") from error
    try:
        found = getattr(_executed(path.absolute()), "CLAIMS", None)
    except (Exception, SystemExit) as error:
        raise UsageError(f"--claims {path}: {_where(error, path.absolute())}{type(error).__name__}: {error}") from error
    if not isinstance(found, (tuple, list)) or not found:
        raise UsageError(f"--claims {path}: no tuple CLAIMS of claims in it")
    for each in found:
        if not all(isinstance(getattr(each, part, None), str) for part in _WORDS) or not hasattr(each, "check"):
            raise UsageError(f"--claims {path}: {shown(each)} is no claim; kinds are in reproduction/model/claims.py")
    return tuple(found)


def judged(claims: Sequence[Claim], folders: Sequence[Path]) -> tuple[HeldClaim, ...]:
    """Every claim held against the runs in these folders; invalid ones and such with damaged traces are no evidence."""
    if not claims:
        return ()
    runs = [run for run in map(load_run, folders) if run.result.verdict != "invalid" and not run.problems]
    has_seeds = len({run.result.seed for run in runs}) > 1
    measurements = tuple(
        Measurement(Point(run.result.variant, {"seed": run.result.seed} if has_seeds else {}), run) for run in runs
    )
    scale: Any = runs[0].result.scale if runs else ""
    results = Results(scale, measurements)
    return tuple(_held(claim, results) for claim in claims)


def _held(claim: Claim, results: Results) -> HeldClaim:
    try:
        return _finding(claim, judge(claim, results))
    except Exception as error:  # of a file that somebody has just written
        return _finding(claim, Measured(None, False, f"not measured: {type(error).__name__}: {error}"))


def _finding(claim: Claim, measured: Measured) -> HeldClaim:
    return HeldClaim(
        claim=claim.claim,
        expected=claim.paper,
        measured=measured.text,
        value=measured.value,
        holds=measured.holds,
    )


def _executed(path: Path) -> ModuleType:
    spec = spec_from_file_location(_MODULE, path)
    if spec is None or spec.loader is None:
        raise ImportError("not a Python file, NAME.py")
    module = module_from_spec(spec)
    sys.modules[_MODULE] = module  # dataclasses look for their module there
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = writes
    return module


def _where(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError):
        return ""  # it says so itself
    own = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"line {own[-1]}: " if own else ""
