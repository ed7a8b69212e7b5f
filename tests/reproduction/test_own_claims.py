# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Claims in a user's file: bad files are refused with one line, and good claims are checked against the runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from sfc_testbed.reproduction import own_claims
from sfc_testbed.reproduction.own_claims import judged, read_claims
from sfc_testbed.testbed.errors import UsageError
from tests.tree import ROOT

_HEAD = """
from sfc_testbed.reproduction.model.claims import Bound, Ratio
from sfc_testbed.reproduction.model.quantities import PEAK_BUFFER, Quantity
"""


def _file(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(_HEAD + text)
    return path


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders of made-up runs; a name consists of scheme, seed, peak buffer and verdict."""

    def load(folder: Path) -> SimpleNamespace:
        scheme, seed, peak, verdict = str(folder).split("-")
        result = SimpleNamespace(
            variant=scheme, seed=int(seed), max_buffer_bytes=int(peak), verdict=verdict, scale="ci"
        )
        return SimpleNamespace(result=result, problems=())

    monkeypatch.setattr(own_claims, "load_run", load)
    names = ("irn-1-100-faithful", "sfc (mine)-1-40-degraded", "irn-2-100-faithful", "sfc (mine)-2-60-faithful")
    return [Path(name) for name in names]


def _findings(path: Path, folders: Sequence[Path]) -> list[tuple[float | None, bool]]:
    return [(finding.value, finding.holds) for finding in judged(read_claims(path), folders)]


def test_claims_name_runs_as_a_comparison_does_and_the_worst_seed_decides(tmp_path: Path, runs: list[Path]) -> None:
    path = _file(
        tmp_path,
        """
CLAIMS = [
    Ratio("half", "half", PEAK_BUFFER, "sfc (mine)", "irn", at_most=0.5),
    Ratio("less", "less", PEAK_BUFFER, "sfc (mine)", "irn", at_most=0.7),
    Bound("seed 1", "half", PEAK_BUFFER, "sfc (mine)", at_most=50, where={"seed": 1}),
]
""",
    )
    assert _findings(path, runs) == [(0.6, False), (0.6, True), (40, True)]


def test_a_claim_that_cannot_be_measured_does_not_hold(tmp_path: Path, runs: list[Path]) -> None:
    path = _file(
        tmp_path,
        """
CLAIMS = (
    Bound("a", "b", PEAK_BUFFER, "sfc", at_most=50),
    Bound("a", "b", Quantity("broken", lambda run: run.result.nothing), "irn", at_most=50),
    Bound("a", "b", PEAK_BUFFER, "ndp", at_most=50),
)
""",
    )
    findings = judged(read_claims(path), [*runs, Path("ndp-1-10-invalid")])
    assert [finding.holds for finding in findings] == [False, False, False]
    assert findings[0].measured == "not measured: sfc was not run"
    assert findings[1].measured.startswith("not measured: AttributeError: ")
    assert findings[2].measured == "not measured: ndp was not run"


def test_a_claim_whose_check_returns_no_finding_does_not_hold(tmp_path: Path, runs: list[Path]) -> None:
    """The comparison must not fail because of an error in the user's file, since its runs would be lost."""
    path = _file(
        tmp_path,
        """
from sfc_testbed.reproduction.model.experiment import Measured

class Odd:
    claim, paper = "a", "b"
    def check(self, results):
        return 42

class Text(Odd):
    def check(self, results):
        return Measured("many", True, "many")

CLAIMS = (Odd(), Text())
""",
    )
    findings = judged(read_claims(path), runs)
    assert [(finding.value, finding.holds) for finding in findings] == [(None, False), (None, False)]
    assert findings[0].measured.startswith("not measured: AttributeError: ")
    assert findings[1].measured.startswith("not measured: ValidationError: ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ": the file defines no tuple CLAIMS with claims"),
        ("CLAIMS = ()", ": the file defines no tuple CLAIMS with claims"),
        ("CLAIMS = Bound", ": the file defines no tuple CLAIMS with claims"),
        (
            "CLAIMS = ('SFC is better',)",
            ": 'SFC is better' is not a claim; see sfc_testbed/reproduction/model/claims.py",
        ),
        ("CLAIMS = (Bound(1, 'b', PEAK_BUFFER, 'irn'),)", ": line 4: claim: must be text, not 1"),
        ("\nCLAIMS = (Bound(),)", ": line 5: Bound: missing a required argument: 'claim'"),
        ("CLAIMS = (", ": SyntaxError: "),
        ("raise SystemExit(0)", ": line 4: SystemExit: 0"),
    ],
)
def test_a_bad_file_is_refused_with_one_line_and_leaves_no_files(text: str, expected: str, tmp_path: Path) -> None:
    path = _file(tmp_path, text)
    with pytest.raises(UsageError) as refused:
        read_claims(path)
    assert str(refused.value).startswith(f"--claims {path}{expected}")
    assert "\n" not in str(refused.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["mine.py"]


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "claims.txt").write_text("CLAIMS = ()")
    for name, expected in (("nothing.py", "No such file"), ("claims.txt", "ImportError: not a Python file, NAME.py")):
        with pytest.raises(UsageError, match=expected):
            read_claims(tmp_path / name)
    with pytest.raises(UsageError, match="is not a regular file"):
        read_claims(tmp_path)


def test_the_example_in_the_tutorial_is_a_valid_file(tmp_path: Path, runs: list[Path]) -> None:
    block = re.search(r"```python\n# claims.py\n(.*?)```", (ROOT / "docs/tutorial/README.md").read_text(), re.DOTALL)
    assert block is not None
    claims = read_claims(_file(tmp_path, block[1]))
    assert [claim.paper for claim in claims] == ["at most 65 %", "0"]
    assert [finding.measured for finding in judged(claims, runs)] == ["not measured: sfc was not run"] * 2
