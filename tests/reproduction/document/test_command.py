# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The pages in docs/reproduction: their text, the choice of findings, and whether the stored pages are current."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PIL import Image

from sfc_testbed.analysis.results.outcome import Outcome
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.document import command as document
from sfc_testbed.reproduction.document.command import below, main
from sfc_testbed.reproduction.document.pages import OUTCOMES, pages_of, parts_of, with_parts
from sfc_testbed.reproduction.model.experiment import Evidence
from sfc_testbed.reproduction.record import ClaimFinding, FigureTable, Reproduction, RunOfExperiment, StoredReproduction
from sfc_testbed.reproduction.remarks import Reason, Remarks, read_remarks
from sfc_testbed.reproduction.summaries import (
    Summary,
    largest,
    matching,
    merged,
    read_summaries,
    summary_of,
    write_summaries,
)
from sfc_testbed.testbed.errors import UsageError

MIX = 'transport.congestion_parameters={"preset": "mix/config.txt"}'
BECAUSE = {"cause": "Because.", "test": "It is.", "runs": ("run theory --set joiners=2",)}


def _claims(letters: str) -> tuple[ClaimFinding, ...]:
    """Return one finding per letter: `a` holds, `d` depends on the seed, `o` is ours and holds, others fail."""
    outcomes: dict[str, Outcome] = {"a": "holds", "o": "holds", "d": "depends on the seed"}
    return tuple(
        ClaimFinding(
            claim=letter,
            paper="p",
            text="m",
            value=1.0,
            values=(1.0,),
            outcome=outcomes.get(letter, "fails"),
            is_ours=letter == "o",
        )
        for letter in letters
    )


@pytest.fixture
def any_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let findings about claims that no experiment has be stored."""
    monkeypatch.setattr(Summary, "answers_current_claims", True)


def _reproduction(name: str, scale: str, letters: str = "ab", changed: tuple[str, ...] = ()) -> Reproduction:
    return Reproduction(experiment=name, title="t", paper_place=EXPERIMENTS[name].paper, scale=scale,
                        claims=_claims(letters), runs=(), failures=(), notes=("note",), changed=changed)  # fmt: skip


def _summary(
    name: str, scale: str, letters: str = "ab", changed: tuple[str, ...] = (), made: str = "20261123-080000"
) -> Summary:
    reproduction = _reproduction(name, scale, letters, changed)
    summary = summary_of(StoredReproduction(reproduction, Path(f"{name}-reproduction-{made}")))
    assert summary is not None
    return summary


def test_a_summary_keeps_the_known_wall_times_of_runs() -> None:
    fields = {"label": "l", "scheme": "sfc", "folder": "f", "command": "c", "verdict": "faithful"}
    runs = tuple(RunOfExperiment.model_validate({**fields, **wall}) for wall in ({"wall_s": 1.234}, {}))
    reproduction = _reproduction("theory", "ci").model_copy(update={"runs": runs})
    summary = summary_of(StoredReproduction(reproduction, Path("runs")))
    assert summary is not None
    assert (summary.runs, summary.walls_s) == (2, (1.23,))


def _write(folder: Path, reproduction: Reproduction) -> None:
    folder.mkdir(parents=True)
    (folder / "reproduction.json").write_text(reproduction.model_dump_json(by_alias=True))


def test_a_page_has_the_largest_scale_with_three_seeds_and_the_cause_of_each_claim_that_fails() -> None:
    three = {"seeds": (1, 2, 3), "verdicts": ("faithful",), "runs": 3}
    shown = _summary("theory", "laptop", "abc").model_copy(update=three)
    sets = [_summary("theory", "ci", "abe"), shown, _summary("theory", "paper", "abd")]
    reasons = (Reason(claims=("b", "c"), **BECAUSE), Reason(claims=("d",), **BECAUSE))
    remarks = {"theory": Remarks(follows="It follows.", reasons=reasons)}
    text = pages_of(sets, remarks, {"theory": "../images/x.png"})["theory.md"]
    parts = (
        "\n\nIt follows.\n\n",
        "(../images/x.png)",
        "[*Measured*](README.md#how-to-read-the-results) is the median over 3 seeds at scale laptop (3 runs).",
        "| 1 | a | p | m | holds |",
        "| 2 | b | as claim 1 | m | **fails** |",
        shown.command,
        "Appendix C has formulas",
        "- **Claims 2, 3.** Because.\n  - *Test:* It is.",
        "- **Claim 5** fails only in other stored results. "
        "`./runner.py reproduce theory --show --full` prints the cause.",
        "- **Claim 4** fails only in other stored results. The cause is unknown.",
    )
    positions = [text.index(part) for part in parts]
    assert positions == sorted(positions)


def test_a_page_names_the_outcomes_that_longer_arrivals_change() -> None:
    short = _summary("hadoop-50", "paper", "abcd", ("arrivals_us=1000",)).model_copy(update={"seeds": (1, 2, 3)})
    whole, other = (_summary("hadoop-50", "paper", "abcd", changed) for changed in ((), (MIX,)))
    opposite: list[Outcome] = ["fails", "holds", "fails", "fails"]
    rows = zip(whole.claims, opposite, strict=True)
    changed = whole.model_copy(
        update={"claims": tuple(row.model_copy(update={"outcome": outcome}) for row, outcome in rows)}
    )
    for sets, sentence in (
        ([short, whole, other], "If messages arrive for 10 ms (seed 1), all outcomes are the same.\n"),
        (
            [short, changed],
            "If messages arrive for 10 ms (seed 1), claim 2 holds (m); claim 1 fails (m); claim 4 fails.\n",
        ),
    ):
        page = pages_of(sets, {}, {})["hadoop-50.md"]
        assert sentence in page
        assert page.count("\nIf messages ") == 1
    assert "\nIf messages " not in pages_of([short, other], {}, {})["hadoop-50.md"]


def test_claims_that_differ_in_a_few_words_share_a_row() -> None:
    alike = [
        finding.model_copy(update={"claim": f"With {name}, SFC is better"})
        for name, finding in zip(("HPCC", "Swift", "DCQCN"), _claims("aba"), strict=True)
    ]
    text = pages_of([_summary("theory", "ci").model_copy(update={"claims": tuple(alike)})], {}, {})["theory.md"]
    assert "| 1, 3 | With *HPCC / DCQCN*, SFC is better | p | both: m | holds |" in text
    assert "| 2 | With Swift, SFC is better | as claim 1 | m | **fails** |" in text


@pytest.mark.parametrize(
    ("text", "evidence", "outcome", "cell"),
    [
        ("0.25x", Evidence("1 MB vs. 4 MB", "", "worst of 3", "degree 8"), "holds", "0.25 times"),
        ("0.6x", Evidence("3 MB vs. 5 MB", "", "worst of 2", "sfc vs. irn"), "fails", "0.6 times (3 MB vs. 5 MB)"),
        ("0.3x", Evidence("1 vs. 4"), "depends on the seed", "0.3 times (from 0.2 to 0.9)"),
        ("63", Evidence(required="at most 0"), "fails", "63 (required: at most 0)"),
        (
            "7 MB",
            Evidence("", "8 MB to 9 MB", "worst of 3 points", "senders 24"),
            "fails",
            "7 MB (required: 8 MB to 9 MB, with senders 24)",
        ),
        (
            "9 KB per unit of incast degree, R² 0.95",
            Evidence(selection="over 7 points"),
            "holds",
            "9 KB per sender, R² 0.95",
        ),
        ("1x", Evidence("5.43 ms vs. 5.43 ms"), "fails", "1.001 times (5.43 ms vs. 5.43 ms)"),
    ],
)
def test_a_measured_value_has_the_details_that_its_outcome_needs(
    text: str, evidence: Evidence, outcome: str, cell: str
) -> None:
    fields = {
        "text": text,
        "evidence": evidence,
        "outcome": outcome,
        "value": 1.00074,
        "range_over_seeds": "0.2x to 0.9x",
    }
    finding = _claims("a")[0].model_copy(update=fields)
    text = pages_of([_summary("theory", "ci").model_copy(update={"claims": (finding,)})], {}, {})["theory.md"]
    assert f"| p | {cell} | " in text


def test_factors_in_a_row_share_their_unit_and_claims_in_a_row_are_a_range() -> None:
    names = ("HPCC", "Swift", "DCQCN", "QCN")
    alike = [
        finding.model_copy(update={"claim": f"With {name}, SFC is better", "text": f"0.{number}x"})
        for number, (name, finding) in enumerate(zip(names, _claims("aaaa"), strict=True), start=1)
    ]
    text = pages_of([_summary("theory", "ci").model_copy(update={"claims": tuple(alike)})], {}, {})["theory.md"]
    claim = "With *HPCC / Swift / DCQCN / QCN*, SFC is better"
    assert f"| 1 to 4 | {claim} | p | 0.1 / 0.2 / 0.3 / 0.4 times | holds |" in text


def test_a_page_has_the_current_notes_and_the_stored_note_on_unfinished_flows() -> None:
    notes = ("former note", "2 of 9 runs did not finish all flows (irn: 1 of 5 flows; sfc: 2 of 5 flows and 1 more)")
    text = pages_of([_summary("theory", "ci").model_copy(update={"notes": notes})], {}, {})["theory.md"]
    assert "former note" not in text
    assert f"- {EXPERIMENTS['theory'].notes[0]}\n" in text
    assert "- 2 of 9 runs did not finish all flows (for example irn: 1 of 5 flows)\n" in text


@pytest.mark.usefixtures("any_claims")
def test_the_overview_has_a_row_for_each_experiment_without_changed_settings(tmp_path: Path) -> None:
    reproductions = (
        _reproduction("theory", "ci"),
        _reproduction("theory", "laptop"),
        _reproduction("ndp", "ci", "ado"),
        _reproduction("ndp", "ci", "ab", ("load=0.1",)),
    )
    for number, reproduction in enumerate(reproductions):
        _write(tmp_path / f"{number}-20261129-080000", reproduction)
    summaries = merged((), (summary for summary, _ in below([tmp_path])))
    text = parts_of(summaries, {"ndp": Remarks(follows="It follows.")})[OUTCOMES]
    first = "Of 4 claims of the paper, 2 hold, 1 fails and 1 depends on the seed. The only claim of our own holds."
    assert text.startswith(first)
    counts = "1 holds, 1 depends on the seed; ours: 1 holds"
    assert f"| Fig. 16 | [ndp](ndp.md) | ci | {counts} | It follows. |" in text
    assert "| Appendix C | [theory](theory.md) | laptop | 1 holds, 1 fails |  |" in text


def test_the_overview_names_runs_that_are_not_faithful() -> None:
    degraded = _summary("ndp", "ci").model_copy(update={"verdicts": ("degraded", "faithful"), "runs": 2})
    text = parts_of([degraded, _summary("theory", "ci", made="")], {})[OUTCOMES]
    assert "Some of the 2 stored runs are not faithful: ndp (ci)." in text


@pytest.mark.parametrize(
    ("scale", "changed", "counts", "arrivals_us"),
    [
        ("paper", ("arrivals_us=1000",), True, 1000.0),
        ("paper", ("arrivals_us=10000",), True, None),
        ("paper", ("arrivals_us=20000",), False, None),
        ("paper", ("arrivals_us=1000", "load=0.1"), False, None),
        ("paper", ("load=0.1",), False, None),
        ("paper", (MIX,), True, None),
        ("ci", (MIX, "load=0.1"), False, None),
        ("ci", ('transport.congestion_parameters={"eta": 0.9}',), False, None),
        ("ci", ("arrivals_us=500",), False, None),
        ("ci", (), True, None),
    ],
)
def test_a_changed_setting_counts_only_if_it_shortens_arrivals_at_scale_paper_or_is_the_preset(
    scale: str, changed: tuple[str, ...], counts: bool, arrivals_us: float | None
) -> None:
    """A run at scale paper takes hours and may be shortened, which its page states. A setting that equals the scale's
    own value changes nothing. Any other change makes the findings no reproduction of the paper."""
    summary = summary_of(StoredReproduction(_reproduction("hadoop-50", scale, changed=changed), Path("runs")))
    assert (summary is not None) == counts
    if summary is not None:
        assert summary.arrivals_us == arrivals_us
    if summary is not None and arrivals_us is not None:
        text = pages_of([summary], {}, {})["hadoop-50.md"]
        assert "seed 1 at scale paper (0 runs), in which messages arrive for 1 ms (default: 10 ms)." in text
        assert "--set arrivals_us=1000" in text


@pytest.mark.usefixtures("any_claims")
def test_complete_and_newer_findings_and_those_with_more_seeds_replace_others() -> None:
    """Findings for several durations stay side by side."""
    whole, shorter, short = (
        _summary("hadoop-50", "paper", letters, changed)
        for letters, changed in (("a", ()), ("ab", ("arrivals_us=2000",)), ("abc", ("arrivals_us=1000",)))
    )
    other = _summary("theory", "ci")
    assert merged([whole], [shorter, other, short]) == (short, shorter, whole, other)
    newer = _summary("hadoop-50", "paper", "aa", made="20261123-080001-2")
    assert newer.made == "20261123-080001"
    assert merged([whole], [newer]) == merged([newer], [whole]) == (newer,)
    incomplete = newer.model_copy(update={"failures": ("sfc: interrupted",)})
    assert merged([whole], [incomplete]) == merged([incomplete], [whole]) == (whole,)
    more_seeds = whole.model_copy(update={"seeds": (1, 2, 3)})
    assert merged([newer], [more_seeds]) == merged([more_seeds], [newer]) == (more_seeds,)


def test_seeds_scale_preset_and_time_decide_which_set_a_page_shows() -> None:
    short, mix, whole = (
        _summary("hadoop-50", "paper", changed=changed) for changed in (("arrivals_us=1000",), (MIX,), ())
    )
    laptop = _summary("hadoop-50", "laptop")
    assert largest([short, mix, laptop]) is short
    assert largest([short, whole, mix]) is whole
    seeds = laptop.model_copy(update={"seeds": (1, 2, 3)})
    assert largest([short, whole, mix, seeds]) is seeds


def test_sets_are_found_by_experiment_scale_preset_and_time() -> None:
    every = [_summary("hadoop-50", "ci"), _summary("theory", "paper")]
    every += [_summary("hadoop-50", "paper", changed=changed) for changed in (("arrivals_us=1000", MIX), ())]
    assert matching(every, scale="paper") == every[1:]
    assert matching(every, "hadoop-50", preset="mix/config.txt") == every[2:3]
    assert matching(every, "hadoop-50", arrivals_ms=10) == every[3:]
    with pytest.raises(UsageError, match=r"for theory, scale ci; stored: paper$"):
        matching(every, "theory", "ci")


def test_a_claim_about_a_factor_gets_the_factor_that_was_measured() -> None:
    finding = _claims("a")[0].model_copy(
        update={"claim": "SFC's buffer is 2.5 to 3 times lower than PFC's", "value": 0.4, "values": (0.25, 0.4, 0.5)}
    )
    lower = finding.model_copy(update={"text": "0.4x", "range_over_seeds": "0.25x to 0.5x"})
    assert (lower.brief, lower.brief_range) == ("2.5x lower", "2x to 4x")
    assert lower.model_copy(update={"text": "1.25x", "value": 1.25}).brief == "1.25x higher"
    other = lower.model_copy(update={"text": "lost"})
    assert (other.brief, other.brief_range) == ("lost", "0.25x to 0.5x")


def test_findings_about_other_claims_are_not_kept() -> None:
    """Older findings are about claims that have been restated since."""
    assert merged([_summary("theory", "ci")], ()) == ()


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the command use empty documents, whose overview has markers. Return their folder."""
    folder = tmp_path / "docs"
    pages, store = folder / "reproduction", folder / "stored.json"
    pages.mkdir(parents=True)
    (pages / "README.md").write_text("before\n<!-- begin outcomes -->\nold\n<!-- end -->\nafter\n")
    monkeypatch.setattr(document, "PAGES", pages)
    monkeypatch.setattr(document, "PICTURES", folder / "images")
    monkeypatch.setattr(document, "BY_HAND", (pages / "README.md", folder / "rivals.md"))
    monkeypatch.setattr(document, "read_summaries", lambda: read_summaries(store))
    monkeypatch.setattr(document, "write_summaries", lambda summaries: write_summaries(summaries, store))
    return folder


@pytest.mark.usefixtures("any_claims")
def test_findings_are_stored_so_that_pages_need_no_runs(tmp_path: Path, docs: Path) -> None:
    runs, page, picture = tmp_path / "runs", docs / "reproduction" / "hadoop-50.md", docs / "images" / "hadoop-50.png"
    _write(runs / "one", _reproduction("hadoop-50", "laptop"))
    Image.new("RGB", (8, 8), "red").save(runs / "one" / "figure.png")
    assert main([str(runs)]) == 0
    assert "(../images/hadoop-50.png)" in page.read_text()
    assert picture.exists()
    shutil.rmtree(runs)
    assert main(["--check"]) == 0
    _write(runs / "smaller", _reproduction("hadoop-50", "ci"))
    _write(runs / "other", _reproduction("theory", "laptop"))
    assert main([str(runs)]) == 0
    assert picture.exists()
    stored = (docs / "stored.json").read_text()
    assert len(stored.splitlines()) == 2 + 3
    assert [summary.place for summary in read_summaries(docs / "stored.json")] == [
        ("hadoop-50", "ci", "run.py", None),
        ("hadoop-50", "laptop", "run.py", None),
        ("theory", "laptop", "run.py", None),
    ]
    overview = (docs / "reproduction" / "README.md").read_text()
    assert overview.startswith("before\n<!-- begin outcomes -->\nOf 4 claims of the paper")
    assert overview.endswith("<!-- end -->\nafter\n")
    _write(runs / "larger", _reproduction("hadoop-50", "paper"))
    assert main([str(runs)]) == 0
    assert not picture.exists()  # the page shows scale paper now, of which there is no picture
    page.write_text(f"{page.read_text()}edited\n")
    assert main(["--check"]) == 1


@pytest.mark.usefixtures("any_claims")
def test_a_page_without_an_experiment_is_removed(docs: Path) -> None:
    write_summaries([_summary("theory", "ci")], docs / "stored.json")
    assert main([]) == 0
    (docs / "reproduction" / "renamed.md").write_text("of an earlier release\n")
    assert main(["--check"]) == 1
    assert main([]) == 0
    assert {path.name for path in (docs / "reproduction").iterdir()} == {"README.md", "theory.md"}


def test_a_folder_without_findings_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line == f"no reproduction.json below {tmp_path}"


def test_the_stored_pages_are_current() -> None:
    assert main(["--check"]) == 0


def test_reasons_are_about_claims_that_exist() -> None:
    for name, remarks in read_remarks().items():
        texts = {claim for reason in remarks.reasons for claim in reason.claims}
        assert {claim.claim for claim in EXPERIMENTS[name].claims} >= texts
        assert remarks.follows


def test_a_page_gets_the_first_table_of_an_experiment_at_a_scale() -> None:
    table = FigureTable(caption="All of them", headings=("scheme", "peak"), rows=(("sfc", "1 MB"),))
    parts = parts_of([_summary("rivals", "ci").model_copy(update={"tables": (table,), "seeds": (1, 2)})], {})
    text = with_parts("a\n<!-- begin rivals, scale ci -->\nold\n<!-- end -->\nb\n", parts)
    assert text.splitlines()[:3] == [
        "a",
        "<!-- begin rivals, scale ci -->",
        "Scale ci, 2 seeds, `./runner.py reproduce rivals --scale ci --seed 1`:",
    ]
    assert text.splitlines()[4:] == ["| scheme | peak |", "|---|---|", "| sfc | 1 MB |", "<!-- end -->", "b"]
    with pytest.raises(ValueError, match="begin NAME"):
        with_parts("no markers", parts)
    with pytest.raises(KeyError, match="rivals, scale paper"):
        with_parts("<!-- begin rivals, scale paper -->\n<!-- end -->\n", parts)
