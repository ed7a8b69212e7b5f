# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The prompt's output: control characters in names from P4 programs or hosts are escaped."""

from __future__ import annotations

from rich.console import Console

from testbed.prompt.terminal import Terminal


def test_no_name_steers_the_terminal() -> None:
    """Newlines and tabs are kept, because they are the layout of the text."""
    output: list[str] = []
    Terminal(output.append, Console(), has_keys=False).say("table\t3\n\x1b[2J\x9b31m\u202e: 4")
    assert output == ["table\t3\n\\x1b[2J\\x9b31m\\u202e: 4\n"]
