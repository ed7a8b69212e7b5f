# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The pages in docs/reproduction: their text, the choice of findings, and whether the stored pages are current."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from analysis.results.outcome import Outcome
from reproduction.catalogue import EXPERIMENTS
from reproduction.document import command as document
from reproduction.document.command import below, main, pages_of
from reproduction.document.experiment import Remark
from reproduction.document.overview import BEGIN, END, with_overview
from reproduction.document.parts import SUMMARY_PAGE
from reproduction.durations import duration_table, have_several_durations, over_durations, plot_durations
from reproduction.record import ClaimFinding, FigureTable, Reproduction, RunOfExperiment, StoredReproduction
from reproduction.summaries import Place, Summary, longest, merged, read_summaries, summary_of, write_summaries

MIX = 'transport.congestion_parameters={"preset": "mix/config.txt"}'


def _claims(letters: str) -> tuple[ClaimFinding, ...]:
    """Return one finding per letter: `a` holds, `d` depends on the seed, `o` is ours and holds, others fail."""
    outcomes: dict[str, Outcome] = {"a": "holds", "o": "holds", "d": "depends on the seed"}
    return tuple(
        ClaimFinding(
            claim=letter,
            paper="p",
            measured="m",
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


def test_a_page_marks_a_failed_claim_and_gives_its_reason() -> None:
    summary = _summary("theory", "ci", "c")
    remark = Remark(reason="Because.", found="It is.", runs=("run theory --set joiners=2",))
    text = pages_of([summary], {"theory": {"c": remark}}, {("theory", "ci", "run.py", None): "../images/x.png"})[
        "theory.md"
    ]
    assert "| c | p | m | **fails** |" in text
    assert "- *c* (scale ci)\n\n  Reason: Because.\n\n  Test: It is.\n" in text
    assert "  ./runner.py run theory --set joiners=2\n" in text
    parts = ("reproduce theory", "Formulas", "../images/x.png", "| c | p |", "*c*", "run theory")
    positions = [text.index(part) for part in parts]
    assert positions == sorted(positions)
    assert "*c* (scale ci): the reason is unknown." in pages_of([summary], {}, {})["theory.md"]


def test_a_reason_is_given_once_for_all_scales_and_claims_that_share_it() -> None:
    remark = Remark(reason="Because.", found="It is.", runs=("run theory",))
    summaries = [_summary("theory", "ci", "bc"), _summary("theory", "laptop", "ac")]
    text = pages_of(summaries, {"theory": {"b": remark, "c": remark}}, {})["theory.md"]
    assert "- *b* (scale ci); *c* (scale ci, scale laptop)\n" in text
    assert text.count("Because.") == 1


@pytest.mark.usefixtures("any_claims")
def test_the_summary_counts_claims_by_experiment_and_scale_without_changed_settings(tmp_path: Path) -> None:
    reproductions = (
        _reproduction("theory", "ci"),
        _reproduction("theory", "laptop"),
        _reproduction("ndp", "ci", "ado"),
        _reproduction("ndp", "ci", "ab", ("load=0.1",)),
    )
    for number, reproduction in enumerate(reproductions):
        _write(tmp_path / str(number), reproduction)
    pages = pages_of(merged((), (summary for summary, _ in below([tmp_path]))), {}, {})
    assert pages.keys() == {SUMMARY_PAGE, "ndp.md", "theory.md"}
    text = pages[SUMMARY_PAGE]
    ndp, theory = "1 holds, 1 depends on the seed; ours: 1 holds", "1 holds, 1 fails"
    assert f"| Fig. 16 | [ndp](ndp.md) | t | {ndp} | - |" in text
    assert f"| Appendix C | [theory](theory.md) | t | {theory} | {theory} |" in text


def test_the_summary_lists_every_claim_with_the_figure_of_the_largest_scale() -> None:
    summaries = [_summary("theory", "ci"), _summary("theory", "laptop", "a")]
    pictures: dict[Place, str] = {
        ("theory", scale, "run.py", None): f"../images/{scale}.png" for scale in ("ci", "laptop")
    }
    text = pages_of(summaries, {}, pictures)[SUMMARY_PAGE]
    assert "| a | holds | holds | m |" in text
    assert "| b | **fails** | - | - |" in text
    assert "../images/laptop.png" in text
    assert "../images/ci.png" not in text


def test_the_summary_begins_with_the_result_and_the_runs_that_are_not_faithful() -> None:
    faithful = [
        _summary(name, "ci").model_copy(update={"verdicts": ("faithful",), "runs": 3}) for name in ("theory", "ndp")
    ]
    degraded = _summary("theory", "laptop", "a").model_copy(update={"verdicts": ("degraded", "faithful"), "runs": 2})
    first = "**Outcomes of the claims:**\n\n- scale ci (1 seed): 4 claims of the paper: 2 hold, 2 fail\n"
    assert f"{first}\nAll 6 runs are faithful.\n" in pages_of(faithful, {}, {})[SUMMARY_PAGE]
    laptop = "- scale laptop (1 seed): 1 claim of the paper: 1 holds\n"
    exception = "Some of the 8 runs are not faithful: theory at scale laptop.\n"
    assert f"{first}{laptop}\n{exception}" in pages_of([*faithful, degraded], {}, {})[SUMMARY_PAGE]


def test_run_times_are_listed_for_scale_paper() -> None:
    short = _summary("hadoop-50", "paper", changed=("arrivals_us=2500",))
    short = short.model_copy(update={"runs": 3, "walls_s": (90.0, 30.0, 6000.0)})
    without = _summary("theory", "paper").model_copy(update={"runs": 1, "walls_s": (0.123,)})
    elsewhere = _summary("ndp", "ci").model_copy(update={"runs": 2, "walls_s": (1.0, 1.0)})
    pages = pages_of([short, without, elsewhere, _summary("fairness", "paper")], {}, {})
    times = pages[SUMMARY_PAGE].partition("## Run times at scale paper")[2]
    assert [line for line in times.splitlines() if line.startswith("| [")] == [
        "| [hadoop-50](hadoop-50.md) | 2.5 | 10 | 3 | 30 s to 1.67 h | 1.7 h |",
        "| [theory](theory.md) | - | - | 1 | 0.123 s | 0.123 s |",
    ]
    assert "Time per run: 1 s; total: 2 s.\n" in pages["ndp.md"]
    assert "Time per run" not in pages["fairness.md"]
    assert "## Run times" not in pages_of([_summary("fairness", "paper")], {}, {})[SUMMARY_PAGE]


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
        assert "## Scale paper, 1 ms\n\nMessages arrive for 1 ms instead of 10 ms.\n" in text
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
    assert longest([short, whole, other, shorter]) == [whole, other]
    newer = _summary("hadoop-50", "paper", "aa", made="20261123-080001-2")
    assert newer.made == "20261123-080001"
    assert merged([whole], [newer]) == merged([newer], [whole]) == (newer,)
    incomplete = newer.model_copy(update={"failures": ("sfc: interrupted",)})
    assert merged([whole], [incomplete]) == merged([incomplete], [whole]) == (whole,)
    more_seeds = whole.model_copy(update={"seeds": (1, 2, 3)})
    assert merged([newer], [more_seeds]) == merged([more_seeds], [newer]) == (more_seeds,)


def test_durations_and_presets_are_compared_on_the_page_of_the_experiment() -> None:
    places = [
        _summary("hadoop-50", "paper", "a", (f"arrivals_us={length}", *preset))
        for preset in ((), (MIX,))
        for length in (1000, 2000)
    ]
    figure = plot_durations(over_durations(places))
    assert [panel.get_title("left") for panel in figure.axes] == ["a"]
    assert [line.get_label() for line in figure.axes[0].lines] == ["run.py", "mix/config.txt"]
    pictures: dict[Place, str] = {("hadoop-50", "paper", "all", None): "../images/durations.png"}
    text = pages_of(places, {}, pictures)["hadoop-50.md"]
    assert "| claim | run.py, 1 ms, 1 seed | run.py, 2 ms, 1 seed | mix/config.txt, 1 ms, 1 seed | mix/" in text
    assert "../images/durations.png" in text
    assert over_durations(places[:1]) == []


def test_the_table_over_durations_has_the_range_over_the_seeds() -> None:
    one, three = (_summary("hadoop-50", "paper", "a", changed) for changed in (("arrivals_us=1000",), ()))
    measured = "0.25x (1 MB vs. 4 MB; worst of 3 points: degree 8); 0.2x to 0.3x over 3 seeds"
    finding = three.claims[0].model_copy(update={"measured": measured, "outcome": "depends on the seed"})
    three = three.model_copy(update={"seeds": (1, 2, 3), "claims": (finding,)})
    assert duration_table([one, three]).splitlines() == [
        "| claim | run.py, 1 ms, 1 seed | run.py, 10 ms, 3 seeds |",
        "|---|---|---|",
        "| a | m: holds | 0.25x (0.2x to 0.3x): depends on the seed |",
    ]


def test_presets_are_compared_without_a_figure_if_there_is_one_duration() -> None:
    places = [_summary("theory", "paper", "a"), _summary("theory", "paper", "a", (MIX,))]
    assert not have_several_durations(places)
    text = pages_of(places, {}, {})["theory.md"]
    assert "## Scale paper with both presets\n\n| claim | run.py, 1 seed | mix/config.txt, 1 seed |" in text


def test_findings_about_other_claims_are_not_kept() -> None:
    """Older findings are about claims that have been restated since."""
    assert merged([_summary("theory", "ci")], ()) == ()


def test_presets_are_columns_and_have_pictures_of_their_own() -> None:
    places = [_summary("hadoop-50", "paper", "a"), _summary("hadoop-50", "paper", "b", (MIX,))]
    pictures = {summary.place: f"../images/{number}.png" for number, summary in enumerate(places)}
    pages = pages_of(places, {}, pictures)
    assert "| claim | scale paper | scale paper with mix/config.txt | measured at scale paper |" in pages[SUMMARY_PAGE]
    assert "## Scale paper with mix/config.txt" in pages["hadoop-50.md"]
    assert all(f"../images/{number}.png" in pages["hadoop-50.md"] for number in (0, 1))


@pytest.mark.usefixtures("any_claims")
def test_findings_are_stored_so_that_pages_need_no_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "PAGES", tmp_path / "docs" / "reproduction")
    monkeypatch.setattr(document, "PICTURES", tmp_path / "docs" / "images")
    store = tmp_path / "docs" / "stored.json"
    monkeypatch.setattr(document, "read_summaries", lambda: read_summaries(store))
    monkeypatch.setattr(document, "write_summaries", lambda summaries: write_summaries(summaries, store))
    runs = tmp_path / "runs"
    _write(runs / "one", _reproduction("hadoop-50", "ci"))
    (runs / "one" / "figure.png").write_bytes(b"a picture")
    assert main([str(runs)]) == 0
    page = document.PAGES / "hadoop-50.md"
    text = page.read_text()
    assert "(../images/ci/hadoop-50.png)" in text
    assert (tmp_path / "docs" / "images" / "ci" / "hadoop-50.png").read_bytes() == b"a picture"
    shutil.rmtree(runs)
    assert main(["--check"]) == 0
    _write(runs / "two", _reproduction("theory", "laptop"))
    assert main([str(runs)]) == 0
    assert {summary.place for summary in read_summaries(store)} == {
        ("hadoop-50", "ci", "run.py", None),
        ("theory", "laptop", "run.py", None),
    }
    page.write_text(f"{text}edited\n")
    assert main(["--check"]) == 1


def test_a_page_without_an_experiment_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "PAGES", tmp_path / "docs" / "reproduction")
    monkeypatch.setattr(document, "PICTURES", tmp_path / "docs" / "images")
    monkeypatch.setattr(document, "read_summaries", lambda: (_summary("theory", "ci"),))
    assert main([]) == 0
    stale = document.PAGES / "renamed.md"
    stale.write_text("of an earlier release\n")
    assert main(["--check"]) == 1
    assert main([]) == 0
    assert {path.name for path in document.PAGES.iterdir()} == {SUMMARY_PAGE, "theory.md"}


def test_a_folder_without_findings_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line == f"no reproduction.json below {tmp_path}"


def test_the_stored_pages_are_current() -> None:
    assert main(["--check"]) == 0


def test_a_table_of_figures_is_on_the_experiments_page_and_in_an_overview_between_its_markers() -> None:
    table = FigureTable(caption="All of them", headings=("scheme", "peak"), rows=(("sfc", "1 MB"),))
    summary = _summary("rivals", "ci").model_copy(update={"tables": (table,), "seeds": (1, 2)})
    lines = pages_of([summary], {}, {})["rivals.md"].splitlines()
    begin = lines.index("All of them")
    assert lines[begin + 2 : begin + 5] == ["| scheme | peak |", "|---|---|", "| sfc | 1 MB |"]
    pictures: dict[Place, str] = {("rivals", "ci", "run.py", None): "images/x.png"}
    begin_ci, begin_paper = BEGIN.format("ci"), BEGIN.format("paper")
    text = with_overview(f"before\n{begin_ci}\nold\n{END}\nafter\n", [summary], pictures)
    assert text.startswith(f"before\n{begin_ci}\nScale ci, 2 seeds, `./runner.py reproduce rivals")
    assert text.endswith(f"{END}\nafter\n")
    assert "| sfc | 1 MB |" in text
    assert "(images/x.png)" in text
    assert "old" not in text
    with pytest.raises(ValueError, match="a pair of markers"):
        with_overview("no markers", [summary], {})
    with pytest.raises(ValueError, match="no stored findings at scale paper"):
        with_overview(f"{begin_paper}\n{END}\n", [summary], {})
