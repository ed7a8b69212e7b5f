# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of tables in headless Chromium: sorting, and the histories that unfold."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.analysis.report.data_table import DataTable
from sfc_testbed.analysis.report.html_pages import write_run_report
from sfc_testbed.analysis.report.sections import RUN_SECTIONS, Section
from tests.analysis.conftest import FolderMaker
from tests.analysis.report.browser import Browser

TITLE = "Things to sort"
ROWS = (
    ("tor10", "2 MB", "1,000", "9.5 (9 to 10)"),
    ("tor9", "900 B", "-", "10.5 (10 to 11)"),
    ("tor1", "12.5 KB", "20", "-"),
    ("tor2", "0 B", "3", "1.0e-04"),
)
_TABLE = f"""[...document.querySelectorAll("section")].find(each => each.querySelector("h2").innerText === "{TITLE}")"""
_NAMES = f"""[...{_TABLE}.querySelectorAll("tbody th")].map(each => each.innerText)"""
_ORDER = f"""[...{_TABLE}.querySelectorAll("thead th")].map(each => each.getAttribute("aria-sort"))"""


@pytest.fixture
def page(make_run_folder: FolderMaker, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a page with a table whose cells have units, commas, intervals and no value."""
    section: Section[object] = Section(lambda _: DataTable(TITLE, ("switch", "bytes", "count", "mean"), ROWS))
    monkeypatch.setitem(RUN_SECTIONS._rows, "things", section)
    return write_run_report(make_run_folder("sfc"))


def sorted_by(browser: Browser, place: int) -> list[str]:
    """Press the heading of a column and return the names of the rows in their new order."""
    browser.evaluate(f"""{_TABLE}.querySelectorAll("thead button")[{place}].click()""")
    names: list[str] = browser.evaluate(_NAMES)
    return names


def test_a_click_on_a_heading_sorts_by_the_value_and_not_by_the_text(browser: Browser, page: Path) -> None:
    """A missing value comes last, whatever the direction. The heading says the direction to screen readers."""
    assert browser.open(page, 1200, 3000) == []
    assert sorted_by(browser, 1) == ["tor2", "tor9", "tor1", "tor10"]
    assert browser.evaluate(_ORDER) == [None, "ascending", None, None]
    assert sorted_by(browser, 1) == ["tor10", "tor1", "tor9", "tor2"]
    assert browser.evaluate(_ORDER) == [None, "descending", None, None]
    assert sorted_by(browser, 2) == ["tor2", "tor1", "tor10", "tor9"]
    assert sorted_by(browser, 2) == ["tor10", "tor1", "tor2", "tor9"]
    assert sorted_by(browser, 3) == ["tor2", "tor10", "tor9", "tor1"]
    assert sorted_by(browser, 0) == ["tor1", "tor2", "tor9", "tor10"]


def test_headings_are_reached_with_the_keyboard(browser: Browser, page: Path) -> None:
    browser.open(page, 1200, 3000)
    browser.evaluate(f"""{_TABLE}.querySelector("thead button").focus()""")
    assert browser.evaluate("document.activeElement.innerText") == "switch"
    assert browser.evaluate("document.activeElement.tabIndex") == 0


def test_a_flow_of_the_table_leads_to_its_history(browser: Browser, page: Path) -> None:
    """The history is unfolded, and it is on the page only once."""
    browser.open(page, 1200, 3000)
    opened = """[...document.querySelectorAll("details")].filter(each => each.open).map(each => each.innerText)"""
    assert browser.evaluate(opened) == []
    number = browser.evaluate("""document.querySelector('a[href^="#flow-"]').innerText""")
    browser.evaluate(
        """new Promise(done => {
          addEventListener("hashchange", () => setTimeout(done));
          document.querySelector('a[href^="#flow-"]').click();
        })"""
    )
    [text] = browser.evaluate(opened)
    assert text.startswith(f"History of flow {number}")
    assert "ready" in text
    assert browser.evaluate(f"document.querySelectorAll('#flow-{number}').length") == 1


_ON_PAPER = """
for (const sheet of document.styleSheets) for (const rule of sheet.cssRules)
  if (rule.media?.mediaText === "print") rule.media.mediaText = "screen";
"""


def test_print_has_no_controls_and_shows_plots_and_tables_whole(browser: Browser, page: Path) -> None:
    """The rules for print are applied on the screen, in a window as wide as a sheet of paper."""
    browser.open(page, 1200, 3000)
    browser.evaluate(_ON_PAPER)
    controls = """[...document.querySelectorAll("select, summary")].filter(each => each.offsetParent).length"""
    assert browser.evaluate(controls) == 0
    widest = """Math.max(...[...document.querySelectorAll(".frame")].map(each => each.getBoundingClientRect().right))"""
    assert 400 < browser.evaluate(widest) <= 720
    cut = """[...document.querySelectorAll(".scroll, pre")].map(each => getComputedStyle(each).overflowX)"""
    assert set(browser.evaluate(cut)) == {"visible"}
