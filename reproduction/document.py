# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""docs/reproduction.md from stored reproductions: `python -m reproduction.document FOLDER...`.

Every figure in the document stands in a reproduction.json below the folders given. The newest one of each experiment
and scale counts, those with changed settings or another P4 program do not. Reasons of failures and the runs that
tested them are in `docs/stored/reproduction-remarks.yaml`.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from analysis.formatting import NOTHING
from analysis.report.markdown import markdown_table
from reproduction.catalogue import EXPERIMENTS
from reproduction.record import FILE_NAME, Reproduction, StoredReproduction, read_reproduction
from reproduction.remarks import Remark, Remarks, read_remarks
from telemetry.atomic_file import replace_text
from testbed.errors import UsageError

ROOT = Path(__file__).resolve().parents[1]
DOCUMENT = ROOT / "docs" / "reproduction.md"
PICTURES = DOCUMENT.parent / "images" / "reproduction"
_SCALES = ("ci", "laptop", "paper")

_HEAD = """<!-- Made by `python -m reproduction.document`; edit docs/stored/reproduction-remarks.yaml instead. -->
# The paper's claims, held against this testbed

Every figure here was measured in a run. A claim that does not hold at a scale is listed as such, with a reason and the
runs that tested it, also where they refute it. Each experiment is one figure of the paper: what that shows, our plot on
its axes under its names, our figures, whether the claims hold, and the command that repeats it. The virtual clock gives
the same figures again for the same seed. The paper's figures have the numbers that its LaTeX source gives them; 3, 4
and 17 are drawings.

Read "holds" with this in mind. Settings were not fixed beforehand. At scale ci about half of the claims failed in a
first pass, mostly for want of senders or of any incast, and degrees, incast spacing and packet size were set after
that, those of `synchronization` and `resources` once more, which turned one claim in each; scale laptop follows the
same rule and was run as it stood. In `theory` the thresholds and the ideal pause were made those of the formulas
after a first pass had needed allowances of up to 6 packets. In `testbed-incast` the claims on the plateau as a
formula were added when the reason for its missing the paper's 3 MB was found. OnRamp's rule was corrected after a
first pass in which it did nothing under any congestion control. Slopes, and what counts as meaningful, were given
margins when a difference of 1 % counted as held. The mechanisms of [the paper, line by line](paper.md) changed last:
the estimator, the filter's timer, the grain of pauses, what a BTS takes, the class of acknowledgements. More claims
fail since, and no setting was changed for them; scales that have no row here have not been run with them yet.
"""


def newest(folders: Sequence[Path]) -> list[StoredReproduction]:
    """The newest reproduction of each experiment and scale below some folders. UsageError if there is none."""
    paths = sorted((path for folder in folders for path in folder.rglob(FILE_NAME)), key=lambda path: path.parent.name)
    found: dict[tuple[str, str], StoredReproduction] = {}
    for path in paths:
        stored = read_reproduction(path.parent)
        if stored.reproduction.departures:
            continue
        found[stored.reproduction.experiment, stored.reproduction.scale] = stored
    if not found:
        raise UsageError(f"no {FILE_NAME} below {', '.join(map(str, folders))}")
    order = list(EXPERIMENTS)
    known = [(order.index(name), _SCALES.index(scale), name, scale) for name, scale in found if name in EXPERIMENTS]
    return [found[name, scale] for *_, name, scale in sorted(known)]


def document(reproductions: Sequence[Reproduction], remarks: Remarks, pictures: Mapping[tuple[str, str], str]) -> str:
    """The whole text; `pictures` are paths from the document, by experiment and scale."""
    parts = [_HEAD, _overview(reproductions)]
    for name in dict.fromkeys(each.experiment for each in reproductions):
        own = [each for each in reproductions if each.experiment == name]
        parts.append(_experiment(own, remarks.get(name, {}), pictures))
    return "\n".join(parts)


def _overview(reproductions: Sequence[Reproduction]) -> str:
    """A row a figure and a column a scale, and their sums."""
    by_place = {(each.experiment, each.scale): each for each in reproductions}
    places = {each.experiment: each.paper_place for each in reproductions}
    rows = [
        (
            place,
            f"[{name}](#{name})",
            *(_held([by_place[name, scale]]) if (name, scale) in by_place else NOTHING for scale in _SCALES),
        )
        for name, place in places.items()
    ]
    sums = (_held([each for each in reproductions if each.scale == scale]) for scale in _SCALES)
    headings = ("the paper", "experiment", *(f"claims that hold, {scale}" for scale in _SCALES))
    return markdown_table(headings, [*rows, ("all", "", *sums)])


def _held(reproductions: Sequence[Reproduction]) -> str:
    claims = [claim for each in reproductions for claim in each.claims]
    return f"{sum(claim.holds for claim in claims)} of {len(claims)}" if reproductions else NOTHING


def _experiment(
    own: Sequence[Reproduction], remarks: Mapping[str, Remark], pictures: Mapping[tuple[str, str], str]
) -> str:
    """What the paper shows, then for each scale our plot, our figures, the verdict, and how to repeat it."""
    first = own[0]
    experiment = EXPERIMENTS[first.experiment]
    caption = experiment.figures[0].caption if experiment.figures else ""
    lines = [f"## {first.experiment}", "", f"**{first.paper_place}. {first.title}.** {experiment.shows}", ""]
    lines += [f"- {note}" for note in first.notes]
    for each in own:
        lines += ["", f"**Scale {each.scale}**"]
        picture = pictures.get((each.experiment, each.scale))
        if picture is not None:
            lines += ["", f"![{first.title}, scale {each.scale}]({picture})", "", caption]
        rows = [(row.claim, row.paper, row.measured, "yes" if row.holds else "**no**") for row in each.claims]
        lines += ["", markdown_table(("claim", "the paper", "here", "holds"), rows)]
        verdicts = sorted({run.verdict for run in each.runs})
        held = f"{_held([each])} claims hold. Verdict of the {len(each.runs)} runs"
        lines += [f"{held}: {', '.join(verdicts) or NOTHING}."]
        lines += [f"Failed: {failure}" for failure in each.failures]
        lines += _reasons(each, remarks)
        lines += ["", "To repeat it:", "", "```sh", each.command, "```"]
    return "\n".join(lines) + "\n"


def _reasons(found: Reproduction, remarks: Mapping[str, Remark]) -> list[str]:
    """A reason for every claim that does not hold; claims that share one share its lines."""
    claims: dict[Remark | None, list[str]] = {}
    for claim in found.claims:
        if not claim.holds:
            claims.setdefault(remarks.get(claim.claim), []).append(f"*{claim.claim}*")
    lines = ["", "Why not:", ""] if claims else []
    for remark, names in claims.items():
        if remark is None:
            lines.append(f"- {'; '.join(names)}: no reason is known.")
            continue
        lines += [f"- {'; '.join(names)}: {remark.reason} Tested: {remark.found}", "", "  ```sh"]
        lines += [f"  ./runner.py {run}" for run in remark.runs]
        lines.append("  ```")
    return lines


def main(arguments: Sequence[str]) -> int:
    """Writes the document from the folders named."""
    if not arguments:
        sys.stderr.write("usage: python -m reproduction.document FOLDER...\n")
        return 2
    try:
        stored = newest([Path(argument) for argument in arguments])
    except UsageError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    text = document([each.reproduction for each in stored], read_remarks(), _place_pictures(stored))
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
