# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Claims of users about their own runs: a Python file with a tuple `CLAIMS`, and the claims of extensions.

Claims are of the kinds that experiments have. They name schemes as a comparison does, such as `sfc` or `sfc (mine)`,
and quantities by name or as objects. A claim must hold for every seed of the runs.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from sfc_testbed.analysis.results.comparison import HeldClaim
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.reproduction.model.claims import CLAIMS, NoneLower, is_claim
from sfc_testbed.reproduction.model.experiment import Claim, Measured, Measurement, Point, Results, judge
from sfc_testbed.reproduction.model.quantities import quantity_of
from sfc_testbed.request.bounded_file import FileRefused, read_bounded_text
from sfc_testbed.request.extensions import described
from sfc_testbed.request.shown import shown
from sfc_testbed.testbed.errors import UsageError

MOST_BYTES = 1_000_000
_MODULE = "claims_of_a_user"


def read_claims(path: Path) -> tuple[Claim, ...]:
    """Execute a file and return its claims. UsageError, one line, if it cannot be read or executed."""
    try:
        read_bounded_text(path, MOST_BYTES)
    except FileNotFoundError as error:
        raise UsageError(f"--claims {path}: {error.strerror}") from error
    except FileRefused as error:
        raise UsageError(f"--claims {path} {error}") from error
    try:
        claims = getattr(_executed(path.absolute()), "CLAIMS", None)
    except UsageError as error:
        raise UsageError(f"--claims {path}: {_where(error, path.absolute())}{error}") from error
    except (Exception, SystemExit) as error:
        raise UsageError(f"--claims {path}: {_where(error, path.absolute())}{type(error).__name__}: {error}") from error
    if not isinstance(claims, (tuple, list)) or not claims:
        raise UsageError(f"--claims {path}: the file defines no tuple CLAIMS with claims")
    for claim in claims:
        if not is_claim(claim):
            raise UsageError(
                f"--claims {path}: {shown(claim)} is not a claim; see sfc_testbed/reproduction/model/claims.py"
            )
    return tuple(_with_quantities(claim) for claim in claims)


def claims_of_extensions() -> tuple[Claim, ...]:
    """Return the claims that extensions added. UsageError if one names a quantity that does not exist."""
    return tuple(_with_quantities(claim) for claims in CLAIMS.values() for claim in claims)


def claims_in(values: Sequence[Claim]) -> tuple[Claim, ...]:
    """Return the claims of a list, with the quantities that they name. UsageError for anything else."""
    for value in values:
        if not is_claim(value):
            raise UsageError(f"claims: {shown(value)} is not a claim, such as sfc.Bound(...) or sfc.Ratio(...)")
    return tuple(_with_quantities(claim) for claim in values)


def _with_quantities(claim: Any) -> Any:
    """Return a claim with the quantities that it names. UsageError for an unknown name."""
    try:
        if isinstance(claim, NoneLower):
            return replace(claim, each_of=tuple(map(quantity_of, claim.each_of)))
        return replace(claim, of=quantity_of(claim.of)) if isinstance(getattr(claim, "of", None), str) else claim
    except UsageError as error:
        raise UsageError(f"claim {shown(claim.claim)}: {error}") from error


def judged(claims: Sequence[Claim], folders: Sequence[Path]) -> tuple[HeldClaim, ...]:
    """Check every claim against the runs in some folders. Invalid runs and runs with damaged traces are left out."""
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
    except Exception as error:  # the check is a user's code
        return _finding(claim, Measured(None, False, f"not measured: {described(error)}"))


def _finding(claim: Claim, measured: Measured) -> HeldClaim:
    return HeldClaim(
        claim=claim.claim,
        expected=claim.paper,
        measured=measured.full_text,
        value=measured.value,
        holds=measured.holds,
    )


def _executed(path: Path) -> ModuleType:
    spec = spec_from_file_location(_MODULE, path)
    if spec is None or spec.loader is None:
        raise ImportError("not a Python file, NAME.py")
    module = module_from_spec(spec)
    sys.modules[_MODULE] = module  # dataclasses look up their module there
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = writes
    return module


def _where(error: BaseException, path: Path) -> str:
    if isinstance(error, SyntaxError):
        return ""  # its text contains the line
    numbers = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f"line {numbers[-1]}: " if numbers else ""
