# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The packet tests in tests/vectors, and the program of each."""

from pathlib import Path

from softswitch.stf.program import ProgramNames
from softswitch.stf.runner import Target, run
from softswitch.stf.statements import parse
from softswitch_tests.pipeline.harness import PROGRAMS

ROOT = Path(__file__).resolve().parents[3]
SFC = ROOT / "switch-bmv2" / "artifacts" / "sfc.json"
VECTORS = sorted((ROOT / "tests" / "vectors").rglob("*.stf"))


def program_of(vector: Path) -> Path:
    """Return sfc.p4's JSON for vectors in the folder `sfc`, otherwise the program named at the start of its name."""
    return SFC if "sfc" in vector.parent.relative_to(ROOT).parts else PROGRAMS / f"{vector.stem.partition('-')[0]}.json"


def name_of(vector: Path) -> str:
    return f"{vector.parent.name}/{vector.stem}"


def run_vector(vector: Path, target: Target) -> None:
    run(parse(vector.read_text(encoding="utf-8")), ProgramNames.load(program_of(vector)), target)
