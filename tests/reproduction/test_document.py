# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""docs/reproduction.md: what is written of findings, which of several counts, and that the stored page is current."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import reproduction.document as page
from reproduction.catalogue import EXPERIMENTS
from reproduction.document import below, document, main
from reproduction.record import ClaimFinding, Reproduction, RunOfExperiment, StoredReproduction
from reproduction.remarks import Remark
from reproduction.summaries import Summary, merged, read_summaries, summary_of, write_summaries


def _claims(words: str) -> tuple[ClaimFinding, ...]:
    """One of each letter; only a holds."""
    return tuple(ClaimFinding(claim=word, paper="p", measured="m", value=1.0, holds=word == "a") for word in words)


def _found(name: str, scale: str, words: str = "ab", changed: tuple[str, ...] = ()) -> Reproduction:
    return Reproduction(experiment=name, title="t", paper_place=EXPERIMENTS[name].paper, scale=scale,
                        claims=_claims(words), runs=(), failures=(), notes=("note",), changed=changed)  # fmt: skip


def _summary(
    name: str, scale: str, words: str = "ab", changed: tuple[str, ...] = (), made: str = "20261123-080000"
) -> Summary:
    summary = summary_of(StoredReproduction(_found(name, scale, words, changed), Path(f"{name}-reproduction-{made}")))
    assert summary is not None
    return summary


def test_what_every_run_took_is_kept() -> None:
    """In seconds; a reproduction from before anybody kept it says nothing."""
    told = {"label": "l", "scheme": "sfc", "folder": "f", "command": "c", "verdict": "faithful"}
    runs = tuple(RunOfExperiment.model_validate({**told, **wall}) for wall in ({"wall_s": 1.234}, {}))
    found = _found("theory", "ci").model_copy(update={"runs": runs})
    summary = summary_of(StoredReproduction(found, Path("runs")))
    assert summary is not None
    assert (summary.runs, summary.walls_s) == (2, (1.23,))


def _lay(folder: Path, found: Reproduction) -> None:
    folder.mkdir(parents=True)
    (folder / "reproduction.json").write_text(found.model_dump_json(by_alias=True))


def test_a_claim_that_does_not_hold_is_written_as_such() -> None:
    """A bold no, and the reason that somebody gave."""
    found = _summary("theory", "ci", "c")
    remark = Remark(reason="because.", found="it is.", runs=("run theory --set joiners=2",))
    text = document([found], {"theory": {"c": remark}}, {("theory", "ci"): "images/x.png"})
    assert "| c | p | m | **no** |" in text
    assert "*c*: because. Tested: it is." in text
    assert "  ./runner.py run theory --set joiners=2\n" in text
    words = ("Formulas", "images/x.png", "| c | p |", "0 of 1 claims", "*c*: because", "To repeat")
    order = [text.index(each) for each in words]
    assert order == sorted(order)
    assert "no reason is known" in document([found], {}, {})


def test_claims_are_counted_by_figure_and_scale(tmp_path: Path) -> None:
    """Without what was made with other settings, however new."""
    findings = (
        _found("theory", "ci"),
        _found("theory", "laptop"),
        _found("ndp", "ci", "a"),
        _found("ndp", "ci", "ab", ("load=0.1",)),
    )
    for number, found in enumerate(findings):
        _lay(tmp_path / str(number), found)
    text = document(merged((), (summary for summary, _ in below([tmp_path]))), {}, {})
    assert "| Fig. 16 | [ndp](#ndp) | 1 of 1 | - | - |" in text
    assert "| Appendix C | [theory](#theory) | 1 of 2 | 1 of 2 | - |" in text
    assert "| all |  | 2 of 3 | 1 of 2 | - |" in text


def test_the_page_begins_with_what_came_of_it_and_whether_to_believe_it() -> None:
    """An experiment with a run that kept up badly is named."""
    sound = [
        _summary(name, "ci").model_copy(update={"verdicts": ("faithful",), "runs": 3}) for name in ("theory", "ndp")
    ]
    late = _summary("theory", "laptop", "a").model_copy(update={"verdicts": ("degraded", "faithful"), "runs": 2})
    words = "\nOf the paper's claims here 2 of 4 at scale ci{} hold, at the cost of {} runs; believe it{}.\n"
    assert words.format("", 6, ": all of them are faithful") in document(sound, {}, {})
    both = words.format(", 1 of 1 at scale laptop", 8, " but for theory at scale laptop")
    assert both in document([*sound, late], {}, {})


def test_what_the_paper_s_size_costs_is_told() -> None:
    """A row an experiment: how long messages arrive against the paper's time, and what the runs took."""
    short = _summary("hadoop-50", "paper", changed=("arrivals_us=2500",))
    short = short.model_copy(update={"runs": 3, "walls_s": (90.0, 30.0, 6000.0)})
    without = _summary("theory", "paper").model_copy(update={"runs": 1, "walls_s": (0.123,)})
    elsewhere = _summary("ndp", "ci").model_copy(update={"runs": 2, "walls_s": (1.0, 1.0)})
    text = document([short, without, elsewhere, _summary("fairness", "paper")], {}, {})
    rows = [line for line in text.splitlines() if line.startswith("| [") and line.count("|") == 7]
    assert rows == [
        "| [hadoop-50](#hadoop-50) | 2.5 | 10 | 3 | 30 s to 1.67 h | 1.7 h |",
        "| [theory](#theory) | - | - | 1 | 0.123 s | 0.123 s |",
    ]
    assert "A run took 1 s, all together 2 s.\n" in text
    assert "a run took" not in document([_summary("fairness", "paper")], {}, {}).lower()


@pytest.mark.parametrize(
    ("scale", "changed", "counts", "arrivals_us"),
    [
        ("paper", ("arrivals_us=1000",), True, 1000.0),
        ("paper", ("arrivals_us=10000",), True, None),
        ("paper", ("arrivals_us=20000",), False, None),
        ("paper", ("arrivals_us=1000", "load=0.1"), False, None),
        ("paper", ("load=0.1",), False, None),
        ("ci", ("arrivals_us=500",), False, None),
        ("ci", (), True, None),
    ],
)
def test_of_changed_settings_only_a_shorter_time_at_paper_scale_counts(
    scale: str, changed: tuple[str, ...], counts: bool, arrivals_us: float | None
) -> None:
    """Hours of a paper's run may be cut; the page says by how much. All else reproduces nothing, but for what is the
    scale's own time in so many words."""
    found = summary_of(StoredReproduction(_found("hadoop-50", scale, changed=changed), Path("runs")))
    assert (found is not None) == counts
    if found is not None:
        assert found.arrivals_us == arrivals_us
    if found is not None and arrivals_us is not None:
        text = document([found], {}, {})
        assert "**Scale paper**, messages arriving for 1 ms instead of 10 ms\n" in text
        assert "--set arrivals_us=1000" in text


def test_longer_runs_count_before_newer_ones() -> None:
    """And of two that are as long the newer one, whichever is given first; other places are left alone."""
    whole, shorter, short = (
        _summary("hadoop-50", "paper", words, changed)
        for words, changed in (("a", ()), ("ab", ("arrivals_us=2000",)), ("abc", ("arrivals_us=1000",)))
    )
    other = _summary("theory", "ci")
    assert merged([short], [shorter, other]) == (shorter, other)
    assert merged([shorter], [short]) == (shorter,)
    assert merged([whole], [shorter]) == (whole,)
    again = _summary("hadoop-50", "paper", "aa", made="20261123-080001-2")
    assert again.made == "20261123-080001"
    assert merged([whole], [again]) == merged([again], [whole]) == (again,)
    cut_short = again.model_copy(update={"failures": ("sfc: interrupted",)})
    assert merged([whole], [cut_short]) == merged([cut_short], [whole]) == (whole,)


def test_findings_outlive_the_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Taken once with their picture, they make the same page when the folders are gone; others join them."""
    monkeypatch.setattr(page, "DOCUMENT", tmp_path / "docs" / "reproduction.md")
    monkeypatch.setattr(page, "PICTURES", tmp_path / "docs" / "images")
    store = tmp_path / "docs" / "stored.json"
    monkeypatch.setattr(page, "read_summaries", lambda: read_summaries(store))
    monkeypatch.setattr(page, "write_summaries", lambda summaries: write_summaries(summaries, store))
    runs = tmp_path / "runs"
    _lay(runs / "one", _found("hadoop-50", "ci"))
    (runs / "one" / f"{EXPERIMENTS['hadoop-50'].figures[0].name}.png").write_bytes(b"a picture")
    assert main([str(runs)]) == 0
    text = page.DOCUMENT.read_text()
    assert "(images/ci/hadoop-50.png)" in text
    assert (tmp_path / "docs" / "images" / "ci" / "hadoop-50.png").read_bytes() == b"a picture"
    shutil.rmtree(runs)
    assert main(["--check"]) == 0
    _lay(runs / "two", _found("theory", "laptop"))
    assert main([str(runs)]) == 0
    assert {each.place for each in read_summaries(store)} == {("hadoop-50", "ci"), ("theory", "laptop")}
    page.DOCUMENT.write_text(text)
    assert main(["--check"]) == 1


def test_a_folder_without_findings_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In one line; the document stays."""
    assert main([str(tmp_path)]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line == f"no reproduction.json below {tmp_path}"


def test_the_stored_page_is_current() -> None:
    """As docs/stored has it."""
    assert main(["--check"]) == 0
