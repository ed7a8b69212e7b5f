# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""docs/reproduction.md from stored reproductions: `python -m testbed.reproduce_document FOLDER...`.

Every figure in the document stands in a reproduction.json below the folders given. The newest one of each experiment
and scale counts. What a person adds as the likely reason of a failure stands in `docs/reproduction-remarks.yaml`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from scenarios.catalogue import EXPERIMENTS
from telemetry.atomic_file import replace_text
from testbed.errors import UsageError
from testbed.reproduce import FILE_NAME, SCHEMA, ClaimFinding, Reproduction

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "reproduction.md"
REMARKS = ROOT / "docs" / "reproduction-remarks.yaml"
_SCALES = ("ci", "laptop", "paper")

_HEAD = """<!-- Made by `python -m testbed.reproduce_document`; edit docs/reproduction-remarks.yaml, not this file. -->
# The paper's claims, held against this testbed

Every figure here was measured in a run. A claim that does not hold at a scale is listed as such, with the likely reason
where there is one. `./runner.py reproduce EXPERIMENT --scale SCALE` repeats an experiment and writes its page with
plots on the paper's axes; the virtual clock gives the same figures again for the same seed.
"""


def newest(folders: Sequence[Path]) -> list[Reproduction]:
    """The newest reproduction of each experiment and scale below some folders. UsageError if there is none."""
    paths = sorted((path for folder in folders for path in folder.rglob(FILE_NAME)), key=lambda path: path.parent.name)
    found: dict[tuple[str, str], Reproduction] = {}
    for path in paths:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("schema", None) != SCHEMA:
            raise UsageError(f"{path}: not a reproduction of this release")
        reproduction = Reproduction(**content)
        found[reproduction.experiment, reproduction.scale] = reproduction
    if not found:
        raise UsageError(f"no {FILE_NAME} below {', '.join(map(str, folders))}")
    order = list(EXPERIMENTS)
    known = [each for key, each in found.items() if key[0] in EXPERIMENTS]
    return sorted(known, key=lambda each: (order.index(each.experiment), _SCALES.index(each.scale)))


def document(reproductions: Sequence[Reproduction], remarks: Mapping[str, Mapping[str, str]]) -> str:
    """The whole text."""
    parts = [_HEAD, _overview(reproductions)]
    for name in dict.fromkeys(each.experiment for each in reproductions):
        own = [each for each in reproductions if each.experiment == name]
        parts.append(_experiment(own, remarks.get(name, {})))
    return "\n".join(parts)


def _overview(reproductions: Iterable[Reproduction]) -> str:
    lines = ["| experiment | paper | scale | claims that hold | runs |", "|---|---|---|---|---|"]
    for each in reproductions:
        held = sum(claim.holds for claim in each.claims)
        link = f"[{each.experiment}](#{each.experiment})"
        lines.append(
            f"| {link} | {each.paper_place} | {each.scale} | {held} of {len(each.claims)} | {len(each.runs)} |"
        )
    return "\n".join(lines) + "\n"


def _experiment(own: Sequence[Reproduction], remarks: Mapping[str, str]) -> str:
    first = own[0]
    lines = [f"## {first.experiment}", "", f"{first.title} ({first.paper_place}).", ""]
    lines += [f"- {note}" for note in first.notes]
    for each in own:
        lines += ["", f"**Scale {each.scale}**", "", "| claim | paper | measured | holds |", "|---|---|---|---|"]
        lines += [_claim(claim) for claim in each.claims]
        verdicts = sorted({run.verdict for run in each.runs})
        lines += ["", f"Verdict of the {len(each.runs)} runs: {', '.join(verdicts) or 'none was made'}."]
        lines += [f"Not in this release: {scheme}." for scheme in each.unknown_schemes]
        lines += [f"Failed: {failure}" for failure in each.failures]
        reasons = [
            (claim.claim, remarks[claim.claim]) for claim in each.claims if not claim.holds and claim.claim in remarks
        ]
        if reasons:
            lines += ["", "Likely reasons:", "", *(f"- *{claim}*: {reason}" for claim, reason in reasons)]
    return "\n".join(lines) + "\n"


def _claim(found: ClaimFinding) -> str:
    cells = (_cell(found.claim), _cell(found.paper), _cell(found.measured), "yes" if found.holds else "**no**")
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: Sequence[str]) -> int:
    """Writes the document from the folders named."""
    if not arguments:
        sys.stderr.write("usage: python -m testbed.reproduce_document FOLDER...\n")
        return 2
    remarks = yaml.safe_load(REMARKS.read_text(encoding="utf-8")) if REMARKS.exists() else {}
    try:
        text = document(newest([Path(argument) for argument in arguments]), remarks or {})
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    replace_text(DOCUMENT, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
