# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The text of the pages in docs/reproduction/, and the generated parts of pages that are written by hand."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence

from sfc_testbed.analysis.formatting import NOTHING, amount, markdown_table
from sfc_testbed.analysis.results.outcome import (
    DEPENDS,
    FAILS,
    HOLDS,
    OURS,
    brief_tally,
    predicate,
    tally_in_sentences,
)
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.record import ClaimFinding
from sfc_testbed.reproduction.remarks import Reason, Remarks
from sfc_testbed.reproduction.summaries import SCALES, Summary, by_experiment, largest, length_us_of, own_arrivals_us

SUMMARY_PAGE = "README.md"
OUTCOMES = "outcomes"
"""The name of the generated part of SUMMARY_PAGE."""

Pictures = Mapping[str, str]
"""The path of each experiment's picture, relative to the folder of the pages."""

_PART = re.compile(r"(<!-- begin (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)
_SOURCE = "<!-- generated: python -m sfc_testbed.reproduction.document -->\n"
UNSTATED = "not stated"
"""The sentence of the paper of a claim that the paper does not make."""
_FIRST_COLUMNS = 6
"""The number of columns of a first table in a hand-written page. `reproduce --show --full` prints all."""
_FURTHER = re.compile(r"(?<= flows); .+ more\)")
"""The further runs in a note about runs in which flows did not finish."""
_FEW_WORDS = 3
"""The most words in which claims in one row of a table differ."""
_UNIT = re.compile(r"(?<=\d) (times(?: better| lower)?)(?=(?: /|,) [\d.]+ \1\b)")
"""The unit after a factor, if the next factor has the same."""
_FACTORS = re.compile(r"([\d.]+)x to ([\d.]+)x")
_FACTOR = re.compile(r"\b([\d.]+)x\b")


def pages_of(summaries: Sequence[Summary], remarks: Mapping[str, Remarks], pictures: Pictures) -> dict[str, str]:
    """Return the text of each experiment's page by its file name. The overview has the notes of several experiments."""
    experiments = by_experiment(summaries)
    counts = Counter(note for own in experiments.values() for note in largest(own).current_notes)
    return {
        f"{name}.md": _page(
            own,
            remarks.get(name, Remarks()),
            pictures.get(name),
            [_shortened(note) for note in largest(own).current_notes if counts[note] == 1],
        )
        for name, own in experiments.items()
    }


def parts_of(summaries: Sequence[Summary], remarks: Mapping[str, Remarks]) -> dict[str, str]:
    """Return the generated parts of pages by name: the outcomes, and first tables such as `rivals, scale laptop`."""
    parts = {OUTCOMES: _outcomes(summaries, remarks)}
    for name, own in by_experiment(summaries).items():
        for scale in SCALES:
            chosen = [summary for summary in own if summary.scale == scale and summary.tables]
            if chosen:
                parts[f"{name}, scale {scale}"] = _first_table(largest(chosen))
    return parts


def with_parts(text: str, parts: Mapping[str, str]) -> str:
    """Return a page's text with its generated parts, each between `<!-- begin NAME -->` and `<!-- end -->`.

    Raise KeyError for an unknown part, and ValueError if the page has no part.
    """
    replaced, count = _PART.subn(lambda match: f"{match[1]}{parts[match[2]]}{match[3]}", text)
    if not count:
        raise ValueError("the page has no `<!-- begin NAME -->` and `<!-- end -->`")
    return replaced


def _first_table(summary: Summary) -> str:
    table = summary.tables[0]
    heading = f"Scale {summary.heading}, {_seeds(summary)}, `{summary.command}`:"
    rows = [row[:_FIRST_COLUMNS] for row in table.rows]
    return f"{heading}\n\n{markdown_table(table.headings[:_FIRST_COLUMNS], rows)}"


def _outcomes(summaries: Sequence[Summary], remarks: Mapping[str, Remarks]) -> str:
    """Return the number of claims that hold, and a table with a row for each experiment."""
    shown = [largest(own) for own in by_experiment(summaries).values()]
    outcomes = [finding.outcome_text for summary in shown for finding in summary.claims]
    rows = [
        (
            summary.paper_place,
            f"[{summary.experiment}]({summary.experiment}.md)",
            summary.heading,
            brief_tally(finding.outcome_text for finding in summary.claims),
            remarks.get(summary.experiment, Remarks()).follows,
        )
        for summary in shown
    ]
    table = markdown_table(("figure", "experiment", "scale", "claims", "what follows"), rows)
    return f"{tally_in_sentences(outcomes)} {_trust(summaries)}\n\n{table}"


def _trust(summaries: Sequence[Summary]) -> str:
    """Say whether all runs are faithful."""
    runs = sum(summary.runs for summary in summaries)
    unsound = [f"{summary.experiment} ({summary.heading})" for summary in summaries if not _is_faithful(summary)]
    if unsound:
        return f"Some of the {runs:,} stored runs are not faithful: {', '.join(unsound)}."
    return f"All {runs:,} stored runs are faithful."


def _is_faithful(summary: Summary) -> bool:
    return set(summary.verdicts) <= {"faithful"}


def _page(sets: Sequence[Summary], remarks: Remarks, picture: str | None, notes: Sequence[str]) -> str:
    """Return an experiment's page: result, picture, claims, how to repeat, the paper's figure, notes and reasons."""
    shown = largest(sets)
    experiment = EXPERIMENTS[shown.experiment]
    lines = [f"{_SOURCE}# {shown.title} ({shown.experiment}, {shown.paper_place})", ""]
    lines += [remarks.follows, ""] if remarks.follows else []
    if picture:
        caption = experiment.figure.caption if experiment.figure else ""
        lines += [f"![{shown.experiment}]({picture})", ""]
        lines += [f"*Seed {shown.seeds[0]}. {caption}*", ""]
    for answer in remarks.answers:
        lines += [f"## {answer.question}", "", answer.answer.rstrip(), ""]
    lines += ["## Claims", ""] if remarks.answers else []
    claims = dict.fromkeys(finding.claim for summary in (shown, *sets) for finding in summary.claims)
    numbers = {claim: str(number) for number, claim in enumerate(claims, start=1)}
    lines += _claims(shown, numbers)
    lines += _longer_arrivals(shown, sets, numbers)
    lines += [f"Failed: {failure}" for failure in shown.failures]
    commands = [shown.command, *([f"./runner.py reproduce {shown.experiment} --show --full"] if shown.tables else [])]
    what = "To repeat, and to print all figures" if shown.tables else "To repeat"
    lines += [f"{what}:", "", "```sh", *commands, "```", ""]
    lines += ["## In the paper", "", experiment.shows]
    if notes:
        lines += ["", "## In this reproduction", "", *(f"- {note}" for note in notes)]
    return "\n".join([*lines, *_reasons(numbers, shown, sets, remarks.reasons)]) + "\n"


def _claims(shown: Summary, numbers: Mapping[str, str]) -> list[str]:
    """Return the table of claims. Claims that differ in a few words share a row."""
    quoted: dict[str, str] = {}
    rows = []
    for findings in _alike(shown.claims):
        first = numbers[findings[0].claim]
        number = _in_ranges([numbers[finding.claim] for finding in findings])
        paper = findings[0].paper
        if paper != UNSTATED and (of_paper := quoted.setdefault(paper, first)) != first:
            paper = f"as claim {of_paper}"
        measured = _measured(findings)
        rows.append((number, _joined([finding.claim for finding in findings]), paper, measured, _marked(findings[0])))
    return [_basis(shown), "", markdown_table(("", "claim", "paper", "measured", "outcome"), rows)]


def _longer_arrivals(shown: Summary, sets: Sequence[Summary], numbers: Mapping[str, str]) -> Iterator[str]:
    """Yield the outcomes that differ if messages arrive for longer than in the runs of the page."""
    before = {finding.claim: finding.outcome for finding in shown.claims}
    for longer in sets:
        is_alike = (longer.scale, longer.preset) == (shown.scale, shown.preset)
        if is_alike and length_us_of(longer) > length_us_of(shown):
            changed = [finding for finding in longer.claims if finding.outcome != before[finding.claim]]
            uncertain = [finding for finding in changed if before[finding.claim] == DEPENDS]
            opposite = [finding for finding in changed if before[finding.claim] != DEPENDS]
            texts = [*_changed(opposite, numbers, has_values=True), *_changed(uncertain, numbers)]
            differences = "; ".join(texts) or "all outcomes are the same"
            yield f"If messages arrive for {length_us_of(longer) / 1000:g} ms ({_seeds(longer)}), {differences}.\n"


def _changed(
    findings: Sequence[ClaimFinding], numbers: Mapping[str, str], *, has_values: bool = False
) -> Iterator[str]:
    """Yield the findings with each outcome by their numbers, with their values on request."""
    for outcome in (HOLDS, FAILS, DEPENDS):
        if own := [finding for finding in findings if finding.outcome == outcome]:
            values = _in_words(" / ".join(dict.fromkeys(map(_precise, own))))
            named = _numbered([numbers[finding.claim] for finding in own])
            yield f"{named} {predicate(outcome, len(own))}{f' ({values})' if has_values else ''}"


def _shortened(note: str) -> str:
    """Return a note about runs in which flows did not finish with one of these runs as an example."""
    shorter, others = _FURTHER.subn(")", note)
    return shorter.replace(" (", " (for example ", 1) if others else note


def _measured(findings: Sequence[ClaimFinding]) -> str:
    """Return the measured values of the claims in a row, each with its details unless all have the same."""
    details = [_detail(finding) for finding in findings]
    medians = [_precise(finding) for finding in findings]
    if len({*details}) > 1:
        medians = [f"{median} {detail}".rstrip() for median, detail in zip(medians, details, strict=True)]
        details = [""]
    if len({*medians}) < len(medians) == 2:
        medians = [f"both: {medians[0]}"]
    return _in_words(f"{' / '.join(medians)} {details[0]}".rstrip())


def _in_words(values: str) -> str:
    """Return measured values with words instead of signs, and with a unit only after the last of several factors."""
    text = _FACTOR.sub(r"\1 times", _FACTORS.sub(r"\1 to \2", values))
    return _UNIT.sub("", text).replace("per unit of incast degree", "per sender")


def _precise(finding: ClaimFinding) -> str:
    """Return the median, with four digits instead of three if three would show a factor of 1 that does not hold."""
    is_rounded = finding.brief == "1x" and finding.outcome != HOLDS and finding.value is not None
    return f"{finding.value:.4g}x" if is_rounded else finding.brief


def _detail(finding: ClaimFinding) -> str:
    """Return the range over the seeds if the outcome depends on them, or the limits or values that a claim fails."""
    if finding.outcome == DEPENDS and finding.brief_range:
        return f"(from {finding.brief_range})"
    if finding.outcome != FAILS:
        return ""
    evidence = finding.evidence
    if evidence.required:
        return f"(required: {evidence.required}{evidence.point and ', with '}{evidence.point})"
    return f"({evidence.values})" if evidence.values else ""


def _alike(findings: Sequence[ClaimFinding]) -> list[list[ClaimFinding]]:
    """Return the findings in groups whose claims differ in a few words, in the order of their first claims."""
    groups: list[list[ClaimFinding]] = []
    for finding in findings:
        fitting = next((group for group in groups if _are_alike([*group, finding])), None)
        if fitting is None:
            groups.append([finding])
        else:
            fitting.append(finding)
    return groups


def _are_alike(findings: Sequence[ClaimFinding]) -> bool:
    """Whether findings have the same outcome and sentence of the paper, and their claims differ in a few words."""
    if len({(_marked(finding), finding.paper) for finding in findings}) > 1:
        return False
    before, differences, after = _compared([finding.claim for finding in findings])
    return bool(before or after) and all(len(words.split()) <= _FEW_WORDS for words in differences)


def _compared(claims: Sequence[str]) -> tuple[str, list[str], str]:
    """Return the text with which all claims begin, the words in which each differs, and the text with which all end."""
    words = [claim.split() for claim in claims]
    begin, end = _common(words), _common([own[::-1] for own in words])
    end = min(end, min(map(len, words)) - begin - 1)
    differences = [" ".join(own[begin : len(own) - end]) for own in words]
    return " ".join(words[0][:begin]), differences, " ".join(words[0][len(words[0]) - end :])


def _common(words: Sequence[Sequence[str]]) -> int:
    """Return the number of words with which all lists begin."""
    shortest = min(map(len, words))
    return next((place for place in range(shortest) if len({own[place] for own in words}) > 1), shortest)


def _joined(claims: Sequence[str]) -> str:
    """Return one text for all claims, in which a slash separates the words that differ."""
    if len(claims) == 1:
        return claims[0]
    before, differences, after = _compared(claims)
    end = differences[0][-1] if differences[0][-1] in ",:" else ""
    return f"{before} *{' / '.join(words.rstrip(',:') for words in differences)}*{end} {after}".strip()


def _basis(summary: Summary) -> str:
    """Return the sentences on the runs that the page shows, and on the columns of its table."""
    length = ""
    scale_us = own_arrivals_us(summary.experiment, summary.scale)
    if summary.arrivals_us is not None and scale_us is not None:
        length = f", in which messages arrive for {summary.arrivals_us / 1000:g} ms (default: {scale_us / 1000:g} ms)"
    of = "the median over " if len(summary.seeds) > 1 else "the result of "
    verdicts = "" if _is_faithful(summary) else f" Verdicts of the runs: {', '.join(summary.verdicts) or NOTHING}."
    return (
        f"[*Measured*]({SUMMARY_PAGE}#how-to-read-the-results) is {of}{_seeds(summary)} at scale {summary.scale} "
        f"({amount(summary.runs, 'run')}){length}.{verdicts}"
    )


def _seeds(summary: Summary) -> str:
    return amount(len(summary.seeds), "seed") if len(summary.seeds) > 1 else f"seed {summary.seeds[0]}"


def _marked(finding: ClaimFinding) -> str:
    """Return the outcome, in bold if the claim does not hold."""
    if finding.outcome == HOLDS:
        return finding.outcome_text
    return f"**{finding.outcome}**{OURS if finding.is_ours else ''}"


def _reasons(
    numbers: Mapping[str, str], shown: Summary, sets: Sequence[Summary], reasons: Sequence[Reason]
) -> list[str]:
    """Return the section on the claims that do not hold, with the reasons of those in the results of the page."""
    failed = {finding.claim for summary in sets for finding in summary.claims if finding.outcome != HOLDS}
    here = {finding.claim for finding in shown.claims if finding.outcome != HOLDS}
    lines = ["", "## Why claims do not hold", ""] if failed else []
    covered: set[str] = set()
    for reason in reasons:
        own = [claim for claim in numbers if claim in reason.claims and claim in failed]
        if here.intersection(own):
            covered.update(own)
            lines += [f"- **{_listed(own, here, numbers)}.** {reason.cause}", f"  - *Test:* {reason.test}"]
    explained = {claim for reason in reasons for claim in reason.claims}
    unknown = [claim for claim in numbers if claim in here - explained]
    if unknown:
        lines += [f"- **{_listed(unknown, here, numbers)}.** The cause is unknown."]
    elsewhere = failed - here - covered
    causes = f"`./runner.py reproduce {shown.experiment} --show --full` prints the cause."
    for chosen, cause in ((elsewhere & explained, causes), (elsewhere - explained, "The cause is unknown.")):
        if claims := [claim for claim in numbers if claim in chosen]:
            verb = "fails" if len(claims) == 1 else "fail"
            lines += [f"- **{_listed(claims, chosen, numbers)}** {verb} only in other stored results. {cause}"]
    return lines


def _listed(claims: Sequence[str], here: Container[str], numbers: Mapping[str, str]) -> str:
    """Name claims by number; those outside `here` fail only in other results than those of the page."""
    other = _in_ranges([numbers[claim] for claim in claims if claim not in here])
    elsewhere = f" (and {other} in other stored results)" if other else ""
    return f"{_numbered([numbers[claim] for claim in claims if claim in here]).capitalize()}{elsewhere}"


def _numbered(numbers: Sequence[str]) -> str:
    """Return claims by their numbers, such as `claims 1, 2`."""
    return f"{'claim' if len(numbers) == 1 else 'claims'} {_in_ranges(numbers)}"


def _in_ranges(numbers: Sequence[str]) -> str:
    """Return ascending numbers as a list, in which three or more in a row are a range, such as `1 to 3, 5`."""
    runs: list[list[int]] = []
    for number in map(int, numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
