# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""docs/reproduction.md from stored reproductions: `python -m reproduction.document FOLDER...`.

Every figure in the document stands in a reproduction.json below the folders given. The newest one of each experiment
and scale counts. What a person adds as the likely reason of a failure is in `docs/stored/reproduction-remarks.yaml`.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from reproduction.catalogue import EXPERIMENTS
from reproduction.record import FILE_NAME, ClaimFinding, Reproduction, StoredReproduction, read_reproduction
from telemetry.atomic_file import replace_text
from testbed.errors import UsageError

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "reproduction.md"
PICTURES = DOCUMENT.parent / "images" / "reproduction"
REMARKS = ROOT / "docs" / "stored" / "reproduction-remarks.yaml"
_SCALES = ("ci", "laptop", "paper")

_HEAD = """<!-- Made by `python -m reproduction.document`; edit docs/stored/reproduction-remarks.yaml instead. -->
# The paper's claims, held against this testbed

Every figure here was measured in a run. A claim that does not hold at a scale is listed as such, with the likely reason
where there is one. `./runner.py reproduce EXPERIMENT --scale SCALE` repeats an experiment and writes its page with
plots on the paper's axes; the virtual clock gives the same figures again for the same seed.

Read "holds" with this in mind. Settings were not fixed beforehand. At scale ci about half of the claims failed in a
first pass, mostly for want of senders or of any incast, and degrees, incast spacing and packet size were set after
that, those of `synchronization` and `resources` once more, which turned one claim in each; scale laptop follows the
same rule and was run as it stood. In `theory` the thresholds and the ideal pause were made those of the formulas
after a first pass had needed allowances of up to 6 packets. In `testbed-incast` the claims on the plateau as a
formula were added when the reason for its missing the paper's 3 MB was found. OnRamp's rule was corrected after a
first pass in which it did nothing under any congestion control. Slopes, and what counts as meaningful, were given
margins when a difference of 1 % counted as held. The mechanisms of [the paper, line by line](paper.md) changed last:
the estimator, the filter's timer, the grain of pauses, what a BTS takes, the class of acknowledgements. More claims
fail since, and no setting was changed for them; scales that have no row here have not been run with them yet. A reason
for a failure names the run that tested it, or says that none did.
"""


def newest(folders: Sequence[Path]) -> list[StoredReproduction]:
    """The newest reproduction of each experiment and scale below some folders. UsageError if there is none."""
    paths = sorted((path for folder in folders for path in folder.rglob(FILE_NAME)), key=lambda path: path.parent.name)
    found: dict[tuple[str, str], StoredReproduction] = {}
    for path in paths:
        stored = read_reproduction(path.parent)
        found[stored.reproduction.experiment, stored.reproduction.scale] = stored
    if not found:
        raise UsageError(f"no {FILE_NAME} below {', '.join(map(str, folders))}")
    order = list(EXPERIMENTS)
    known = [(order.index(name), _SCALES.index(scale), name, scale) for name, scale in found if name in EXPERIMENTS]
    return [found[name, scale] for *_, name, scale in sorted(known)]


def document(
    reproductions: Sequence[Reproduction],
    remarks: Mapping[str, Mapping[str, str]],
    pictures: Mapping[tuple[str, str], str],
) -> str:
    """The whole text; `pictures` are paths from the document, by experiment and scale."""
    parts = [_HEAD, _overview(reproductions)]
    for name in dict.fromkeys(each.experiment for each in reproductions):
        own = [each for each in reproductions if each.experiment == name]
        parts.append(_experiment(own, remarks.get(name, {}), pictures))
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


def _experiment(
    own: Sequence[Reproduction], remarks: Mapping[str, str], pictures: Mapping[tuple[str, str], str]
) -> str:
    first = own[0]
    experiment = first.experiment
    lines = [f"## {first.experiment}", "", f"{first.title} ({first.paper_place}).", ""]
    lines += [f"- {note}" for note in first.notes]
    for each in own:
        lines += ["", f"**Scale {each.scale}**", "", "| claim | paper | measured | holds |", "|---|---|---|---|"]
        lines += [_claim(claim) for claim in each.claims]
        verdicts = sorted({run.verdict for run in each.runs})
        lines += ["", f"Verdict of the {len(each.runs)} runs: {', '.join(verdicts) or 'none was made'}."]
        if (experiment, each.scale) in pictures:
            lines += ["", f"![{first.title}, scale {each.scale}]({pictures[experiment, each.scale]})"]
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
        sys.stderr.write("usage: python -m reproduction.document FOLDER...\n")
        return 2
    remarks = yaml.safe_load(REMARKS.read_text(encoding="utf-8")) if REMARKS.exists() else {}
    try:
        stored = newest([Path(argument) for argument in arguments])
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    text = document([each.reproduction for each in stored], remarks or {}, _place_pictures(stored))
    replace_text(DOCUMENT, text)
    return 0


def _place_pictures(stored: Iterable[StoredReproduction]) -> dict[tuple[str, str], str]:
    """Copies the first figure of each into docs/images/reproduction."""
    placed: dict[tuple[str, str], str] = {}
    for each in stored:
        picture = _first_figure(each)
        if picture is not None:
            found = each.reproduction
            target = PICTURES / found.scale / f"{found.experiment}.png"
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(picture, target)
            placed[found.experiment, found.scale] = target.relative_to(DOCUMENT.parent).as_posix()
    return placed


def _first_figure(stored: StoredReproduction) -> Path | None:
    """The experiment's first figure, if it was drawn."""
    figures = EXPERIMENTS[stored.reproduction.experiment].figures
    path = stored.folder / f"{figures[0].name}.png" if figures else None
    return path if path is not None and path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
