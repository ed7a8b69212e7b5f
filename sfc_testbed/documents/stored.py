# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The stored results of docs/stored, one run in each line, and the generated parts of pages."""

from __future__ import annotations

import json
import re
from pathlib import Path

from sfc_testbed.analysis.metrics.figures import Figures
from sfc_testbed.place import ROOT, STORED
from sfc_testbed.telemetry.atomic_file import replace_text

DOCS = ROOT / "docs"
PAIRS = STORED / "fidelity.json"
"""Live runs compared with virtual runs."""
CASES = STORED / "validation.json"
"""Virtual runs compared with other simulators."""
TESTS = STORED / "simulator-tests.json"
"""Tests of what causes the differences, entered by hand: most of them need a changed simulator."""


class PageError(Exception):
    """A page without its markers; the message names the page."""


def write_runs(path: Path, content: Figures) -> None:
    """Write figures with a field `runs`, one run in each line. Fields with their default values are left out."""
    head = json.dumps(content.model_dump(mode="json", by_alias=True, exclude={"runs"}), ensure_ascii=False)
    runs = content.model_dump(mode="json", by_alias=True, exclude_defaults=True)["runs"]
    lines = ",\n".join(json.dumps(run, ensure_ascii=False, separators=(",", ":")) for run in runs)
    replace_text(path, f'{head.removesuffix("}")}, "runs": [\n{lines}\n]}}\n')


def replaced(page: Path, text: str, name: str, content: str) -> str:
    """Return the text of a page with new content between the markers of this name.

    Raise PageError unless there is one pair of markers.
    """
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    wanted, count = pattern.subn(lambda _: f"{begin}\n{content}\n{end}", text)
    if count != 1:
        raise PageError(f"{page.name}: expected one pair of markers {begin} {end}, found {count}")
    return wanted
