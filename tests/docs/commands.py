# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Extracts the commands of pages: lines of shell blocks, and inline code that begins with a program."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from sfc_testbed.cli.app import VERBS, main
from tests.tree import ROOT

OUTSIDE_DOCS = (
    *("README.md", "CONTRIBUTING.md", "examples/README.md"),
    *("softswitch/README.md", "softswitch/docs/tutorial-queues.md"),
)
PAGES = sorted(
    str(path.relative_to(ROOT)) for path in (*map(ROOT.joinpath, OUTSIDE_DOCS), *(ROOT / "docs").rglob("*.md"))
)
ROOT_WORD = "sudo"
RUNNER = ("./runner.py", "runner.py", "sfc-testbed", "env/bin/sfc-testbed")
PYTHON = (".venv/bin/python", "python", "switch/bin/python", "env/bin/python")
PROGRAMS = (*RUNNER, *PYTHON, "make")
"""Inline code that begins with one of these and has further words is a command."""

_FENCE = re.compile(r"^(?P<indent> *)```(?P<kind>[^\n]*)\n(?P<text>.*?)^(?P=indent)```$", re.MULTILINE | re.DOTALL)
_PARAGRAPH = re.compile(r"^\|.*$|(?:^(?!\|).+\n?)+", re.MULTILINE)
_SPAN = re.compile(r"`([^`]+)`")
_VARIABLE = re.compile(r"[A-Z_0-9]+=.*")
_JOINTS = ("&&", "|")
_INTO = ">"


@dataclass(frozen=True)
class Block:
    """A fenced code block."""

    kind: str
    text: str


@dataclass(frozen=True)
class Command:
    """A complete command line, or inline code."""

    page: str
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def place(self) -> str:
        return f"{self.page}: {self.text}"

    @property
    def is_for_root(self) -> bool:
        return self.words[0] == ROOT_WORD

    @property
    def parts(self) -> list[list[str]]:
        """The programs of the line with their arguments, without `sudo`, variables and redirection."""
        commands = self.words[: self.words.index(_INTO)] if _INTO in self.words else self.words
        groups = groupby(commands, key=lambda word: word in _JOINTS)
        return [bare(list(words)) for is_joint, words in groups if not is_joint]


def bare(words: Sequence[str]) -> list[str]:
    """Return the words without leading `sudo` and variables."""
    rest = list(words)
    while len(rest) > 1 and (rest[0] == ROOT_WORD or _VARIABLE.fullmatch(rest[0])):
        del rest[0]
    return rest


def blocks_of(page: str) -> Iterator[Block]:
    for fence in _FENCE.finditer(_read(page)):
        yield Block(fence["kind"], fence["text"])


def commands_of(page: str) -> list[Command]:
    """Return the commands of a page, in shell blocks and in inline code."""
    lines = [
        line for block in blocks_of(page) if block.kind == "sh" for line in block.text.replace("\\\n", " ").splitlines()
    ]
    in_blocks = [Command(page, tuple(words)) for line in lines if (words := shlex.split(line, comments=True))]
    return [*in_blocks, *(span for span in spans_of(page) if _is_command(span))]


def fragments_of(page: str) -> Iterator[Command]:
    """Yield inline code that consists of a verb with arguments, or of options."""
    for span in spans_of(page):
        if span.words[0].startswith("--") or (span.words[0] in VERBS and len(span.words) > 1):
            yield span


def spans_of(page: str) -> Iterator[Command]:
    """Yield the inline code of a page, split like a shell if possible, otherwise at blanks."""
    for paragraph in _PARAGRAPH.finditer(_FENCE.sub("", _read(page))):
        for span in _SPAN.finditer(paragraph[0]):
            text = span[1].replace(r"\|", "|")
            try:
                words = shlex.split(text)
            except ValueError:
                words = text.split()
            if words:
                yield Command(page, tuple(words))


def typed(words: Sequence[str]) -> tuple[int, str]:
    """Run runner.py in this process, and return its exit code and its output."""
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        status = main(words)
    return status, output.getvalue()


def _is_command(span: Command) -> bool:
    rest = bare(span.words)
    return len(rest) > 1 and rest[0] in PROGRAMS and rest[1] != "..." and "=" not in rest[1]


def _read(page: str) -> str:
    return Path(ROOT, page).read_text(encoding="utf-8")
