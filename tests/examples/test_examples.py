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
    "incast": r"deepest queue of tor2: [1-9]\d* bytes\n(h\d: [\d.]+ us, slowdown [\d.]+\n){7}[1-9]\d* of \d+ BTS were",
    "broken_link": r"link is down: False\ndone now: True\n[1-9]\d* packets were sent again",
    "compare_schemes": r"irn: at most [1-9]\d* KB in s1\ningress-bts: .*\nsfc\+none: .*\npfc: at most [1-9]\d* KB",
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs(name: str) -> None:
    """To its end, and leaves nothing."""
    before = running.remains()
    done = subprocess.run(
        [sys.executable, "-m", f"examples.{name}"], cwd=running.ROOT, capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert re.search(EXAMPLES[name], done.stdout), done.stdout
    assert running.left_since(before) == {}


def test_every_example_is_tried() -> None:
    """A new one belongs into the table above."""
    assert {path.stem for path in (running.ROOT / "examples").glob("[a-z]*.py")} == set(EXAMPLES)
