# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Creates the files of a page in a folder, and types its commands."""

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
_FILE_NAME = re.compile(r"# (\w+\.\w+)\n")
# All commands run in one process, because starting a process takes longer than a command. They draw no pages: pages
# have their own tests and take longer than the runs.
_SCRIPT = """
import glob, json, os, runpy, shutil, subprocess, sys
sys.path[0] = os.getcwd()
from sfc_testbed.analysis.report import html_pages
html_pages.write_run_report = lambda folder, **_: folder / "report.html"
html_pages.write_comparison_report = lambda folders, folder, *_, **__: folder / "comparison.html"
from sfc_testbed.cli.app import main
from tests.extended import nothing_remains

request = json.load(sys.stdin)
for words in request["commands"]:
    name, rest = words[0], [path for word in words[1:] for path in sorted(glob.glob(word)) or [word]]
    print("$", *words, flush=True)
    if name == "cd":
        os.chdir(*rest)
    elif name == "git":
        if shutil.which("git"):  # the testbed does not need it
            subprocess.run(words, check=True)
    elif name.endswith(".venv/bin/python"):
        runpy.run_path(rest[0])
    else:
        assert name == "runner.py" or os.path.samefile(name, os.path.join(sys.path[0], "runner.py"))
        with nothing_remains():
            status = main(rest)
        assert status in request["statuses"], (status, words)
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

    def make(self, folder: Path) -> None:
        """Create all files."""
        folder.mkdir(exist_ok=True)
        for kind, text in self._blocks():
            if kind != "sh":
                path = folder / _file_of(text)
                assert not path.exists(), path
                path.write_text(text, encoding="utf-8")

    def commands(self) -> list[list[str]]:
        """Return the words of each line of the shell blocks."""
        return [shlex.split(line) for kind, text in self._blocks() if kind == "sh" for line in text.splitlines()]

    def _blocks(self) -> Iterable[tuple[str, str]]:
        return (block for blocks in self.sections.values() for block in blocks)


def _file_of(text: str) -> str:
    match = _FILE_NAME.match(text)
    assert match is not None, f"the block has no file name: {text[:60]!r}"
    return match[1]


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
