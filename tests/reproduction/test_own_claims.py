# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Claims in a file of somebody's own: what is none is refused in a line, the rest is held against the runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from reproduction import own_claims
from reproduction.own_claims import judged, read_claims
from testbed.errors import UsageError
from tests.tree import ROOT

_HEAD = """
from reproduction.model.claims import Bound, Ratio
from reproduction.model.quantities import PEAK_BUFFER, Quantity
"""


def _file(folder: Path, text: str) -> Path:
    path = folder / "mine.py"
    path.write_text(_HEAD + text)
    return path


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Folders of runs by name: scheme, seed, peak buffer, verdict."""

    def load(folder: Path) -> SimpleNamespace:
        scheme, seed, peak, verdict = str(folder).split("-")
        result = SimpleNamespace(
            variant=scheme, seed=int(seed), max_buffer_bytes=int(peak), verdict=verdict, scale="ci"
        )
        return SimpleNamespace(result=result, problems=())

    monkeypatch.setattr(own_claims, "load_run", load)
    names = ("irn-1-100-faithful", "sfc (mine)-1-40-degraded", "irn-2-100-faithful", "sfc (mine)-2-60-faithful")
    return [Path(name) for name in names]


def _found(path: Path, folders: Sequence[Path]) -> list[tuple[float | None, bool]]:
    return [(each.value, each.holds) for each in judged(read_claims(path), folders)]


def test_claims_are_held_against_runs_by_their_names_for_every_seed(tmp_path: Path, runs: list[Path]) -> None:
    """The seed that is worst decides; each is held against its own base."""
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
    assert _found(path, runs) == [(0.6, False), (0.6, True), (40, True)]


def test_what_was_not_measured_does_not_hold(tmp_path: Path, runs: list[Path]) -> None:
    """A scheme that did not run, an invalid run, and a mistake in the file's own arithmetic, which loses nothing."""
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
    found = judged(read_claims(path), [*runs, Path("ndp-1-10-invalid")])
    assert [each.holds for each in found] == [False, False, False]
    assert found[0].measured == "not measured: sfc was not run"
    assert found[1].measured.startswith("not measured: AttributeError: ")
    assert found[2].measured == "not measured: ndp was not run"


def test_whatever_a_check_gives_the_comparison_is_made(tmp_path: Path, runs: list[Path]) -> None:
    """What is no finding does not hold, and nothing that was run is lost."""
    path = _file(
        tmp_path,
        """
from reproduction.model.experiment import Measured

class Odd:
    claim, paper = "a", "b"
    def check(self, results):
        return 42

class Wordless(Odd):
    def check(self, results):
        return Measured(1.0, True, 42)

CLAIMS = (Odd(), Wordless())
""",
    )
    found = judged(read_claims(path), runs)
    assert [(each.value, each.holds) for each in found] == [(None, False), (None, False)]
    assert found[0].measured.startswith("not measured: AttributeError: ")
    assert found[1].measured.startswith("not measured: ValidationError: ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ": no tuple CLAIMS of claims in it"),
        ("CLAIMS = ()", ": no tuple CLAIMS of claims in it"),
        ("CLAIMS = Bound", ": no tuple CLAIMS of claims in it"),
        ("CLAIMS = ('SFC is better',)", ": 'SFC is better' is no claim; kinds are in reproduction/model/claims.py"),
        ("CLAIMS = (Bound(1, 'b', PEAK_BUFFER, 'irn'),)", ": Bound(claim=1, paper='b'"),
        ("\nCLAIMS = (Bound(),)", ": line 5: TypeError: Bound"),
        ("CLAIMS = (", ": SyntaxError: "),
        ("raise SystemExit(0)", ": line 4: SystemExit: 0"),
    ],
)
def test_what_is_no_file_of_claims(text: str, expected: str, tmp_path: Path) -> None:
    """One line with the place; nothing is left beside the file."""
    path = _file(tmp_path, text)
    with pytest.raises(UsageError) as refused:
        read_claims(path)
    assert str(refused.value).startswith(f"--claims {path}{expected}")
    assert "\n" not in str(refused.value)
    assert [each.name for each in tmp_path.iterdir()] == ["mine.py"]


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """No file, no Python."""
    (tmp_path / "claims.txt").write_text("CLAIMS = ()")
    for name, expected in (("nothing.py", "No such file"), ("claims.txt", "ImportError: not a Python file, NAME.py")):
        with pytest.raises(UsageError, match=expected):
            read_claims(tmp_path / name)
    with pytest.raises(UsageError, match="is not a regular file"):
        read_claims(tmp_path)


def test_the_example_of_contributing_is_one(tmp_path: Path, runs: list[Path]) -> None:
    """As it stands there."""
    block = re.search(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert block is not None
    claims = read_claims(_file(tmp_path, block[1]))
    assert [claim.paper for claim in claims] == ["at most half", "0", "0"]
    assert [each.measured for each in judged(claims, runs)] == ["not measured: sfc was not run"] * 3
