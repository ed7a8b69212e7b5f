# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Creates the files and types the commands of a page in a copy of the tree."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.changes.change import environment_of

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OWN_FILE = re.compile(r"# ([\w/]+\.\w+)\n")
_CHANGED_FILE = re.compile(r"--- ([\w/]+\.py)\n")
ROOT_WORD = "sudo"
# All commands run in one process, because starting a process takes longer than a command. They draw no pages: pages
# have their own tests and take longer than the runs.
_SCRIPT = """
import glob, json, runpy, sys
from sfc_testbed.analysis.report import html_pages
html_pages.write_run_report = lambda folder, **_: folder / "report.html"
html_pages.write_comparison_report = lambda folders, folder, *_: folder / "comparison.html"
from sfc_testbed.cli.app import main

request = json.load(sys.stdin)
for words in request["commands"]:
    name, rest = words[0], [path for word in words[1:] for path in sorted(glob.glob(word)) or [word]]
    print("$", *words, flush=True)
    if name == "./runner.py":
        status = main(rest)
        assert status in request["statuses"], (status, words)
    else:
        assert name == ".venv/bin/python", words
        runpy.run_path(rest[0])
"""


@dataclass(frozen=True)
class Page:
    """The files and commands of a page."""

    sections: dict[str, list[tuple[str, str]]]
    """Kind and text of each block, by heading of the second level."""

    @classmethod
    def read(cls, path: Path) -> Page:
        parts = re.split(r"^## (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
        return cls({name: _BLOCK.findall(text) for name, text in zip(parts[1::2], parts[2::2], strict=True)})

    def places(self, section: str) -> set[str]:
        """Return the files in folders of the tree that a section creates or changes."""
        names = (_file_of(text) for kind, text in self.sections[section] if kind != "sh")
        return {name for name in names if "/" in name}

    def make(self, tree: Path) -> None:
        """Create and change all files, in the order of the page."""
        for kind, text in self._blocks():
            if kind == "diff":
                _change(tree / _file_of(text), text)
            elif kind != "sh":
                path = tree / _file_of(text)
                assert not path.exists(), path
                path.write_text(text, encoding="utf-8")

    def commands(self) -> list[list[str]]:
        """Return the words of each line of the shell blocks."""
        return [shlex.split(line) for kind, text in self._blocks() if kind == "sh" for line in text.splitlines()]

    def _blocks(self) -> Iterable[tuple[str, str]]:
        return (block for blocks in self.sections.values() for block in blocks)


def _file_of(text: str) -> str:
    match = _OWN_FILE.match(text) or _CHANGED_FILE.match(text)
    assert match is not None, f"the block has no file name: {text[:60]!r}"
    return match[1]


def _change(path: Path, text: str) -> None:
    """Apply a diff to a file. The context of each part must occur exactly once."""
    content = path.read_text(encoding="utf-8")
    for part in text.split("\n", 1)[1].split("@@\n"):
        lines = part.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] != "+")
        after = "".join(line[1:] for line in lines if line[0] != "-")
        assert content.count(before) == 1, f"{path.name} has {content.count(before)} places like\n{before}"
        content = content.replace(before, after)
    path.write_text(content, encoding="utf-8")


def type_in(tree: Path, commands: list[list[str]], statuses: tuple[int, ...] = (0,)) -> str:
    """Run the commands one after the other and return their output. Each must end with one of the exit codes."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        input=json.dumps({"commands": commands, "statuses": statuses}),
        cwd=tree,
        env=environment_of(tree),
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout
