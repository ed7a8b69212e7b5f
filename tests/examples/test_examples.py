# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The examples run, and what they print is what they say."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.testbed import running

pytestmark = running.NEEDS_MININET
EXAMPLES = {
    "incast": r"deepest queue of tor2: [1-9]\d* bytes\n(h\d: .* us, slowdown [\d.]+\n){7}[1-9]\d* of [1-9]\d* BTS were",
    "broken_link": r"link is down: False\ndone now: True\n[1-9]\d* packets were sent again",
    "compare_schemes": r"irn: at most (\d+) KB in tor2\ningress-bts: at most (\d+) KB in tor2\nsfc: at most (\d+) KB",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_shows_what_it_claims_and_leaves_nothing(name: str) -> None:
    before = running.remains()
    done = subprocess.run(
        [sys.executable, "-m", f"examples.{name}"], cwd=running.ROOT, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    found = re.search(EXAMPLES[name], done.stdout)
    assert found, done.stdout
    if name == "compare_schemes":
        irn, ingress, sfc = map(int, found.groups())
        assert 0 < sfc < ingress < irn
        assert sfc < 0.6 * irn
    assert running.left_since(before) == {}


def test_every_example_is_tried() -> None:
    """A new one belongs into the table above."""
    assert {path.stem for path in (running.ROOT / "examples").glob("[a-z]*.py")} == set(EXAMPLES)
