# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for `watch`: the page in Chromium shows what the traces have, and plays it."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfc_testbed.analysis.life.stored import stored_events
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.analysis.watch import stored
from sfc_testbed.analysis.watch.page import write_watch_page
from sfc_testbed.analysis.watch.scene import scene_of
from sfc_testbed.cli.app import main
from sfc_testbed.telemetry.schema import FLOWS
from sfc_testbed.testbed.execution.watch_page import write_watch
from sfc_testbed.topologies.shapes import SHAPES, shape
from tests.analysis.report.browser import Browser
from tests.conftest import Refused
from tests.testbed.execution.test_killed_runs import VIRTUAL, VIRTUAL_MOMENTS, killed

WIDE, NARROW = 1200, 390
HIGH_WINDOW = 900


def _run(out: Path, *words: str) -> Path:
    """Run a scenario in virtual time and return its folder."""
    assert main(["run", *words, "--clock", "virtual", "--out", str(out)]) == 0
    [folder] = out.iterdir()
    return folder


@pytest.fixture(scope="module")
def incast(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _run(tmp_path_factory.mktemp("sfc"), "incast", "--scheme", "sfc")


def _open(browser: Browser, folder: Path, width: int = WIDE, *, dark: bool = False) -> None:
    assert browser.open(folder / "watch.html", width, HIGH_WINDOW, dark=dark) == []
    assert browser.evaluate("performance.getEntriesByType('resource').length") == 0


def _node(browser: Browser, name: str) -> int:
    return int(browser.evaluate(f"sfcWatch.runs[0].names.indexOf({json.dumps(name)})"))


def test_the_page_plays_and_stops_with_the_space_key(browser: Browser, incast: Path) -> None:
    _open(browser, incast)
    assert browser.evaluate("sfcWatch.time") == 0
    browser.page.keyboard.press("Space")
    browser.page.wait_for_function("sfcWatch.time > 1")
    browser.page.keyboard.press("Space")
    assert browser.page.inner_text("#play").endswith("Play")
    time_us = browser.evaluate("sfcWatch.time")
    browser.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert browser.evaluate("sfcWatch.time") == time_us
    browser.page.click("#play")
    browser.page.select_option("#speed", "50000")
    browser.page.wait_for_function("sfcWatch.time === sfcWatch.runs[0].end")
    assert browser.page.inner_text("#play").endswith("Play"), "it stops at the end"


def test_arrow_keys_step_to_events(browser: Browser, incast: Path) -> None:
    _open(browser, incast)
    flows, signals = (pl.read_parquet(incast / f"{name}.parquet") for name in ("flows", "signals"))
    browser.page.keyboard.press("ArrowRight")
    assert browser.evaluate("sfcWatch.time") == flows["start_us"].min()
    browser.page.select_option("#kinds", "network")
    browser.page.keyboard.press("ArrowRight")
    assert browser.evaluate("sfcWatch.time") == signals["sent_us"].min()
    assert "first BTS of tor2 (queue)" in browser.page.inner_text("#event")
    seen = []
    for _ in range(20):
        browser.page.keyboard.press("ArrowRight")
        seen.append(browser.page.inner_text("#event"))
    peak = pl.read_parquet(incast / "queues.parquet").filter(pl.col("port") > 0)["high_water_bytes"].max()
    assert isinstance(peak, int)
    assert any(f"peak of the queue tor2 → h16, class 3: {peak / 1000:.0f} KB" in text for text in seen)
    browser.page.select_option("#kinds", "flow")
    browser.page.keyboard.press("ArrowLeft")
    assert "is complete after" in browser.page.inner_text("#event")


def test_depths_are_those_of_the_trace_at_samples_and_straight_between_them(browser: Browser, incast: Path) -> None:
    _open(browser, incast)
    rows = pl.read_parquet(incast / "queues.parquet").filter((pl.col("switch") == "tor2") & (pl.col("port") == 8))
    times, depths = rows["time_us"].to_list(), rows["depth_bytes"].to_list()
    port = f"sfcWatch.runs[0].ports.get({_node(browser, 'tor2')} * 1024 + 8)"
    assert browser.evaluate(f"{json.dumps(times)}.map(time => {port}.queues.get(3).at(time))") == depths
    middle = browser.evaluate(f"{port}.queues.get(3).at({(times[3] + times[4]) / 2})")
    assert middle == pytest.approx((depths[3] + depths[4]) / 2)
    assert browser.evaluate(f"{port}.queues.get(3).during({times[3]} - 1)") == rows["high_water_bytes"][3]
    links = pl.read_parquet(incast / "links.parquet").filter((pl.col("switch") == "tor2") & (pl.col("port") == 8))
    until_us = links["time_us"].to_list()[1]
    for before_us in (19.99, 10, 0):  # from the first instant of an interval to its last
        assert browser.evaluate(f"{port}.sent.during({until_us} - {before_us})") == links["sent_bytes"][1]


def test_a_bts_moves_from_its_switch_to_its_sender(browser: Browser, incast: Path) -> None:
    _open(browser, incast)
    rows = pl.read_parquet(incast / "signals.parquet").sort("received_us", "sent_us")
    dots = browser.evaluate("""(() => {
        const run = sfcWatch.runs[0], center = node => { const {x, y, width, height} = run.boxes[node];
            return [x + width / 2, y + height / 2]; };
        return run.dots.filter(dot => dot.signal).map(dot => ({begin: dot.begin, end: dot.end,
            first: run.dotAt(dot, dot.begin), last: run.dotAt(dot, dot.end),
            from: center(dot.signal.node), to: center(dot.signal.host)}));
    })()""")
    assert sorted((dot["end"], dot["begin"]) for dot in dots) == sorted(rows.select("received_us", "sent_us").rows())
    for dot in dots:
        assert dot["first"] == pytest.approx(dot["from"])
        assert dot["last"][0] == pytest.approx(dot["to"][0], abs=3)
        assert dot["last"][1] == pytest.approx(dot["to"][1], abs=20)


def test_the_history_of_a_flow_is_that_of_trace(browser: Browser, incast: Path) -> None:
    _open(browser, incast)
    run = load_run(incast)
    for row in run.flows.iter_rows(named=True):
        browser.evaluate(f"sfcWatch.select({{kind: 'flow', id: {row['flow_id']}}})")
        cells = browser.page.locator("#details tbody tr").all_inner_texts()
        shown = Counter(tuple(line.split("\t")[:3]) for line in cells)
        expected = stored_events(row, run.signals, run.goodput)
        assert shown == Counter((f"{event.time_us:,.2f}", event.where, event.what) for event in expected)


def test_senders_are_paused_as_long_as_their_last_bts_says(browser: Browser, incast: Path) -> None:
    _open(browser, incast)
    signals = pl.read_parquet(incast / "signals.parquet").sort("received_us")
    for time_us in (10.0, 30.0, 60.0, 90.0, 120.0):
        last = signals.filter(pl.col("received_us") <= time_us).unique("flow_id", keep="last")
        paused = last.filter(pl.col("paused_until_us") > time_us)["host"].unique().sort().to_list()
        shown = browser.evaluate(
            f"sfcWatch.runs[0].names.filter((name, node) => sfcWatch.runs[0].count('paused', node, {time_us}))"
        )
        assert sorted(shown) == paused


def test_dropped_bytes_are_those_of_the_dropped_packets(browser: Browser, tmp_path: Path) -> None:
    folder = _run(tmp_path, "incast", "--scheme", "irn", "--set", "switch.buffer_bytes=300000")
    dropped = load_run(folder).result.dropped
    assert dropped
    _open(browser, folder)
    lost = browser.evaluate("""[...sfcWatch.runs[0].drops].map(([node, samples]) =>
        [sfcWatch.runs[0].names[node], samples.high.reduce((sum, bytes) => sum + bytes, 0)])""")
    [[switch, lost_bytes]] = lost
    assert switch == "tor2"
    assert lost_bytes == pytest.approx(dropped * 1058, abs=1058)  # nearly all frames have 1,058 bytes


def test_captured_pauses_move_and_stop_ports(browser: Browser, tmp_path: Path) -> None:
    settings = ("--set", "switch.buffer_bytes=1000000", "--pcap", "tor1,tor2,spine1,spine2")
    folder = _run(tmp_path, "incast", "--scheme", "pfc", *settings)
    pfc = load_run(folder).result.pfc
    assert pfc is not None and pfc.sent
    _open(browser, folder)
    assert (
        browser.evaluate("sfcWatch.runs[0].dots.filter(dot => ['pfc', 'resume'].includes(dot.kind)).length") == pfc.sent
    )
    stopped = browser.evaluate("[...sfcWatch.runs[0].stops.keys()].map(port => sfcWatch.runs[0].names[port.node])")
    assert {"spine1", "tor1", "h1"} <= set(stopped)
    assert "port stopped by PFC" in browser.page.inner_text("#key")


def test_pauses_that_were_not_captured_are_inferred_and_named_so(browser: Browser, tmp_path: Path) -> None:
    folder = _run(tmp_path, "incast", "--scheme", "pfc", "--set", "switch.buffer_bytes=1000000")
    _open(browser, folder)
    assert "probably stopped by PFC" in browser.page.inner_text("#key")
    assert "PFC frames were sent, but not captured" in browser.page.inner_text("#notes")
    stops = browser.evaluate("sfcWatch.runs[0].events.filter(event => event.kind === 'pfc').map(event => event.text)")
    assert "spine1 → tor2 is probably stopped by PFC" in stops


def test_two_runs_play_in_step(browser: Browser, incast: Path, tmp_path: Path) -> None:
    """A port that is clicked is chosen in both runs."""
    other = _run(tmp_path, "incast", "--scheme", "irn")
    assert main(["watch", str(other), str(incast)]) == 0
    _open(browser, other)
    assert browser.page.locator("figcaption span:first-child").all_inner_texts() == ["irn", "sfc"]
    browser.evaluate("sfcWatch.seek(34)")
    browser.page.wait_for_function("document.querySelector('#time').textContent.startsWith('34.00')")
    states = browser.page.locator("figcaption .state").all_inner_texts()
    assert states == ["5 flows are going on, 0 paused", "5 flows are going on, 5 paused"]
    place = browser.evaluate("(({px, py}) => ({x: px, y: py - 8}))([...sfcWatch.runs[0].ports.values()].at(-1))")
    browser.page.locator(".net canvas:last-child").first.click(position=place)
    headings = browser.page.locator("#details h2").all_inner_texts()
    assert [text.partition(":")[0] for text in headings] == ["irn", "sfc"]
    assert len({text.partition(":")[2] for text in headings}) == 1


def test_the_chain_of_a_dependent_message_leads_back_to_the_first(browser: Browser, tmp_path: Path) -> None:
    folder = _run(tmp_path, "collective", "--set", "iterations=1")
    _open(browser, folder)
    flows = pl.read_parquet(folder / "flows.parquet")
    [last] = flows.filter(pl.col("received_us") == pl.col("received_us").max())["flow_id"].head(1)
    browser.evaluate(f"sfcWatch.select({{kind: 'flow', id: {last}}})")
    chain = [int(text) for text in browser.page.locator("#details .chain td:first-child button").all_inner_texts()]
    assert chain[-1] == last and len(chain) > 2
    rows = {row["flow_id"]: row for row in flows.iter_rows(named=True)}
    assert rows[chain[0]]["start_us"] == flows["start_us"].min()
    for before, after in pairwise(chain):
        assert rows[after]["src"] in (rows[before]["src"], rows[before]["dst"])
        assert rows[after]["start_us"] >= min(rows[before]["received_us"], rows[before]["finish_us"])


@pytest.mark.parametrize("dark", [False, True])
def test_a_page_fits_a_phone(browser: Browser, incast: Path, dark: bool) -> None:
    _open(browser, incast, NARROW, dark=dark)
    assert browser.evaluate("document.documentElement.scrollWidth") <= NARROW
    bright = (browser.screenshot().mean(axis=2) > 0.9).mean()
    assert bright < 0.05 if dark else bright > 0.5


def test_names_with_html_stay_texts(browser: Browser, incast: Path, tmp_path: Path) -> None:
    name = "</script><img src=x onerror=problems.push(1)>\"'&"
    write_watch([incast], tmp_path)
    content = _content_of(tmp_path)
    scene = content["scene"]
    scene.update(tags=[name], title=name, label=name, notes=[name], names=[f"{node}{name}" for node in scene["names"]])
    scene["thresholds_bytes"] = {name: 250_000}
    scene["faults"] = [{"label": name, "begin_us": 20.0, "end_us": 40.0}]
    write_watch_page(tmp_path, [content, content], name)
    _open(browser, tmp_path)
    for what in ("{kind: 'flow', id: 1}", "{kind: 'host', node: 15}", "{kind: 'port', node: 17, number: 8}"):
        browser.evaluate(f"sfcWatch.select({what})")
        assert name in browser.page.inner_text("#details")
    browser.page.keyboard.press("ArrowRight")
    assert name in browser.page.inner_text("#event")
    assert browser.page.inner_text("h1") == name
    assert browser.evaluate("document.querySelectorAll('img').length") == 0


def _content_of(folder: Path) -> dict[str, Any]:
    """Return the data of the first run on a page."""
    text = (folder / "watch.html").read_text()
    [data, *_] = re.findall(r'<script type="application/json" class="watch-data">(.*?)</script>', text)
    content: dict[str, Any] = json.loads(data)
    return content


def test_a_run_of_512_hosts_is_thinned_and_a_frame_draws_a_bounded_number_of_items(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = ("topology.tors=32", "topology.hosts_per_tor=16", "topology.spines=16", "degree=63")
    folder = _run(tmp_path, "incast", *(word for setting in network for word in ("--set", setting)))
    limits = {"queues": 200, "links": 900, "signals": 100, "goodput": 300, "flows": 40}
    monkeypatch.setattr(stored, "MOST_ROWS", limits)
    write_watch([folder], folder)
    _open(browser, folder)
    notes = browser.page.inner_text("#notes")
    for sentence in ("Queues below", "Links have one sample in", "Of the BTS, one in", "Only the 40 slowest flows"):
        assert sentence in notes
    queues = pl.read_parquet(folder / "queues.parquet").filter(pl.col("port") > 0)
    assert browser.evaluate("sfcWatch.runs[0].ranked[0].peak") == queues["high_water_bytes"].max()
    links, hosts = 32 * 16 + 512, 512
    for share in (0.2, 0.5, 0.8):
        browser.evaluate(f"(sfcWatch.seek(sfcWatch.runs[0].end * {share}), sfcWatch.draw())")
        assert hosts < browser.evaluate("sfcWatch.drawn") <= hosts + 2 * links + 500 + limits["queues"]
    assert (folder / "watch.html").stat().st_size < 6_000_000


def test_a_run_killed_in_the_middle_can_be_watched(
    browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _, _ = killed(tmp_path, VIRTUAL_MOMENTS["after the sixteenth save"], *VIRTUAL)
    assert main(["watch", str(folder)]) == 0
    assert f"page: {folder}/watch.html" in capsys.readouterr().out
    _open(browser, folder)
    browser.page.keyboard.press("ArrowRight")
    assert browser.evaluate("sfcWatch.time") > 0
    assert load_run(folder).result.interrupted


def test_the_newest_run_and_the_runs_of_a_comparison_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A comparison over seeds shows the runs of the first seed. Its report, and that of a run, links to the page."""
    monkeypatch.chdir(tmp_path)
    words = ["--schemes", "irn,sfc", "--seeds", "1..2", "--clock", "virtual", "--set", "message_bytes=20000"]
    assert main(["compare", "incast", *words]) == 0
    [compared] = Path("runs").glob("*compare*")
    for folder in (compared, *Path("runs").glob("incast-sfc*")):
        assert '<a href="watch.html">' in (folder / "report.html").read_text()
    (compared / "watch.html").unlink()
    assert main(["watch", str(compared)]) == 0
    assert (compared / "watch.html").read_text().count('class="watch-data"') == 2
    capsys.readouterr()
    assert main(["watch"]) == 0
    assert re.search(r"page: runs/incast-\S+/watch\.html", capsys.readouterr().out)


def test_folders_that_cannot_be_watched_are_refused(refused: Refused, folder: Path, tmp_path: Path) -> None:
    refused(["watch", tmp_path / "nowhere"], "no such folder")
    refused(["watch", *[folder] * 7], "7 runs; a page plays 1 to 6")
    (folder / "watch.html").unlink()
    (folder / "watch.html").mkdir()
    refused(["watch", folder], "watch.html")
    config = folder / "config.json"
    config.write_text(config.read_text().replace('"topology": "clos"', '"topology": "unknown"'))
    (folder / "watch.html").rmdir()
    refused(["watch", folder], "its network cannot be drawn")


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_drawn_inside_the_page(name: str, browser: Browser, tmp_path: Path) -> None:
    """Switches of one row do not overlap, and every link begins and ends at its nodes."""
    flows = pl.DataFrame(schema={name: FLOWS.dtypes[name] for name in stored.FLOW_COLUMNS})
    scene = scene_of(
        shape(name, {}).build(),
        flows,
        title=name,
        label=name,
        queue_interval_us=10.0,
        link_interval_us=20.0,
        thresholds_bytes={},
        end_us=100.0,
    )
    write_watch_page(tmp_path, [{"scene": scene, "chunks": []}], name)
    _open(browser, tmp_path)
    wrong = browser.evaluate("""(() => {
        const {boxes, hosts, links, width, height, row} = sfcWatch.runs[0], wrong = [];
        boxes.forEach((box, at) => {
            const left = boxes[at - 1];
            if (box.x < 0 || box.x + box.width > width) wrong.push(["beside", at]);
            if (box.y < 0 || box.y + box.height > height) wrong.push(["outside", at]);
            if (at > hosts && row[at] === row[at - 1] && box.x < left.x + left.width) wrong.push(["overlap", at]);
        });
        for (const link of links) for (const {node, px, py} of [link.a, link.b]) {
            const {x, y, width, height} = boxes[node];
            if (!(px >= x && px <= x + width && py >= y && py <= y + height)) wrong.push(["link", node]);
        }
        return wrong;
    })()""")
    assert wrong == []
