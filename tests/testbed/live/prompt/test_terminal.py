# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The prompt's own words: names that a P4 program or a host made up are text."""

from __future__ import annotations

from rich.console import Console

from testbed.live.prompt.terminal import Terminal


def test_no_name_steers_the_terminal() -> None:
    """Lines and columns stay."""
    said: list[str] = []
    Terminal(said.append, Console(), has_keys=False).say("table\t3\n\x1b[2J\x9b31m\u202e: 4")
    assert said == ["table\t3\n\\x1b[2J\\x9b31m\\u202e: 4\n"]
