# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The version in pyproject.toml is the newest release of the changelog, and no other file states it."""

from __future__ import annotations

import re
from datetime import date

from tests.tree import ROOT, files_of_tree

[VERSION] = re.findall(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)


def test_the_changelog_begins_with_unreleased_entries_and_the_released_version() -> None:
    headings = re.findall(r"^## \[(.+?)\](?: - (\S+))?$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    assert headings[1][0] == VERSION
    dates = [date.fromisoformat(day) for _, day in headings[1:]]
    assert dates == sorted(dates, reverse=True)


def test_no_other_file_states_the_version() -> None:
    pattern = re.compile(rf"(?<![\d.]){re.escape(VERSION)}(?![\d.])")
    files = [
        name for name in files_of_tree() if name.endswith((".py", ".md", ".toml", ".sh", "Dockerfile", "Vagrantfile"))
    ]
    stating = {name for name in files if pattern.search((ROOT / name).read_text(encoding="utf-8"))}
    assert stating == {"pyproject.toml", "CHANGELOG.md"}
