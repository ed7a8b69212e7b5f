# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page of active runs in a browser: it shows chunks as they come, keeps two runs, and plays them after the end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sfc_testbed.analysis.watch.chunk import chunk_of
from sfc_testbed.analysis.watch.page import live_page
from sfc_testbed.analysis.watch.scene import node_numbers, scene_of
from sfc_testbed.telemetry.flow_parts import PLANNED
from sfc_testbed.topologies.shapes import Clos
from tests.analysis.report.browser import CHROMIUM, Browser, opened_browser
from tests.appearing import comes_true
from tests.testbed.watch.test_server import Served

pytestmark = pytest.mark.skipif(not CHROMIUM, reason="Chromium is not installed")
NETWORK = Clos(hosts_per_tor=4).build()
NODES = node_numbers(NETWORK)
QUEUE = "[...sfcWatch.runs[0].ports.values()].flatMap(port => [...port.queues.values()])[0]"
STATE = "document.querySelector('.live').textContent"


class LivePage:
    """A page in a browser, and the server that feeds it."""

    def __init__(self, served: Served, browser: Browser) -> None:
        self.served = served
        self.browser = browser
        self.problems: list[str] = []
        browser.page.on("pageerror", lambda error: self.problems.append(str(error)))
        browser.page.on("console", lambda message: self.problems.append(message.text))

    def open(self, host: str = "127.0.0.1") -> None:
        self.browser.page.goto(self.served.url.replace("127.0.0.1", host))

    def begin(self, label: str) -> None:
        scene = scene_of(
            NETWORK,
            PLANNED.empty(),
            title=f"incast · {label}",
            label=label,
            queue_interval_us=10,
            link_interval_us=20,
            thresholds_bytes={"Q_th": 50_000},
        )
        self.served.add("scene", json.dumps({**scene, "dilation": 5000}))

    def chunk(self, until_us: float, **parts: Any) -> None:
        self.served.add("chunk", json.dumps({**chunk_of(NODES, until_us, **parts), "behind_ms": 150}))

    def value(self, expression: str) -> Any:
        return self.browser.evaluate(expression)

    def shows(self, expression: str) -> bool:
        return comes_true(lambda: bool(self.value(expression)))


@pytest.fixture
def page(tmp_path: Path) -> Iterator[LivePage]:
    served = Served(live_page())
    try:
        with opened_browser(tmp_path) as browser:
            yield LivePage(served, browser)
    finally:
        served.close(0)
        served.stop()


def _queue(time_us: float, depth_bytes: int) -> dict[str, list[Any]]:
    return {
        "time_us": [time_us],
        "switch": ["tor2"],
        "port": [4],
        "class": [3],
        "depth_bytes": [depth_bytes],
        "high_water_bytes": [depth_bytes],
    }


def test_chunks_appear_as_they_come_and_can_be_played_after_the_end(page: LivePage) -> None:
    page.open("localhost")  # as through a forwarded port
    assert page.shows(f"{STATE} === 'Waiting for the network to start.'")
    page.begin("sfc")
    message = {
        "flow_id": [1],
        "src": ["h1"],
        "dst": ["h8"],
        "size_bytes": [1000],
        "start_us": [2.0],
        "ideal_fct_us": [5],
    }
    page.chunk(10, planned=message, queues=_queue(10, 30_000))
    assert page.shows("sfcWatch.runs.at(-1)?.until === 10")
    assert page.shows(f"/^Live, 5,000 times slower than the model, [0-9]+ ms behind/.test({STATE})")
    page.chunk(20, queues=_queue(20, 60_000), flows={"flow_id": [1], "start_us": [None], "finish_us": [12.5]})
    assert page.shows("sfcWatch.runs[0].until === 20")
    assert page.shows("sfcWatch.time > 19")  # it follows the run
    page.chunk(500)
    page.served.add("end", json.dumps({"sentence": "The verdict is faithful.", "notes": ["All is <b>well</b>."]}))
    assert page.shows(f"{STATE} === 'The run has ended. The verdict is faithful.'")
    assert page.value("document.getElementById('notes').lastChild.textContent") == "sfc: All is <b>well</b>."
    flow = page.value("(({start, finish, ideal, src}) => [start, finish, ideal, src])(sfcWatch.runs[0].flows.get(1))")
    assert flow == [2, 12.5, 5, 0]
    assert page.value("[sfcWatch.runs[0].end, sfcWatch.runs[0].isLive]") == [20, False]
    assert page.value(f"{QUEUE}.at(15, 20)") == 45_000
    page.served.close()
    assert page.shows(f"{STATE}.startsWith('The run has ended.')")
    assert not [
        problem for problem in page.problems if "ERR_CONNECTION" not in problem and "ERR_INCOMPLETE" not in problem
    ]


def test_of_many_runs_the_page_keeps_two_side_by_side(page: LivePage) -> None:
    page.open()
    for label in ("irn", "pfc", "sfc"):
        page.begin(label)
        page.chunk(10, queues=_queue(10, 30_000))
        page.served.add("end", json.dumps({"sentence": "The verdict is faithful.", "notes": []}))
    assert page.shows("sfcWatch.runs.at(-1)?.scene.label === 'sfc' && !sfcWatch.runs.at(-1).isLive")
    assert page.value("sfcWatch.runs.map(run => run.scene.label)") == ["pfc", "sfc"]
    assert page.value("document.querySelectorAll('#runs figure').length") == 2
    assert page.value("document.title") == "incast · sfc"
    assert not page.problems


def test_the_time_axis_of_a_long_run_shows_the_latest_seconds(page: LivePage) -> None:
    page.open()
    page.begin("sfc")
    for step in range(1, 11):
        page.chunk(1000 * step, queues=_queue(1000 * step, 1000))
    assert page.shows("sfcWatch.runs.at(-1)?.until === 10000 && sfcWatch.time > 9999")
    page.value("sfcWatch.draw()")
    axis = "(({first, last}) => [first, last])(sfcWatch.runs[0].axis)"
    assert page.value(axis) == [6000, 10_000]  # 20 s at a dilation of 5000
    page.value("(sfcWatch.seek(3000), sfcWatch.draw())")
    assert page.value(axis) == [0, 10_000]
    page.served.add("end", json.dumps({"sentence": "The verdict is faithful.", "notes": []}))
    assert page.shows("!sfcWatch.runs[0].isLive")
    page.value("(sfcWatch.seek(9999), sfcWatch.draw())")
    assert page.value(axis) == [0, 10_000]
    assert not page.problems


def test_a_page_that_is_loaded_again_has_everything(page: LivePage) -> None:
    page.begin("sfc")
    for step in range(1, 30):
        page.chunk(10 * step, queues=_queue(10 * step, 1000 * step))
    for _ in range(2):
        page.open()
        assert page.shows("sfcWatch.runs.at(-1)?.until === 290")
        assert page.value(f"{QUEUE}.time.length") == 29
    assert not page.problems


def test_a_lost_connection_is_shown_and_foreign_scripts_do_not_run(page: LivePage) -> None:
    page.begin("sfc")
    page.open()
    page.chunk(10, queues=_queue(10, 1000))
    assert page.shows("sfcWatch.runs.at(-1)?.until === 10")
    injected = (
        "document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hacked = 1'}))"
    )
    page.value(f"({injected}, 0)")
    assert page.value("window.hacked ?? null") is None
    page.served.close()
    assert page.shows(f"{STATE} === 'The connection was lost; trying again.'")
