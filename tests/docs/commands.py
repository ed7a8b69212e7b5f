# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Extracts the commands of pages: lines of shell blocks, and inline code that begins with a program."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from cli.app import VERBS
from tests.tree import ROOT

OUTSIDE_DOCS = ("README.md", "CONTRIBUTING.md", "softswitch/README.md", "softswitch/docs/tutorial-queues.md")
PAGES = sorted(
    str(path.relative_to(ROOT)) for path in (*map(ROOT.joinpath, OUTSIDE_DOCS), *(ROOT / "docs").rglob("*.md"))
)
SHELL = "sh"
NO_SHELL = ("csv", "diff", "python", "text", "yaml")
PROMPT = "mininet> "
ROOT_WORD = "sudo"
RUNNER = ("./runner.py", "runner.py")
PROGRAMS = (
    *RUNNER,
    *("make", "python", "python3", ".venv/bin/python", "tools/provision.sh"),
    *("softswitch/simple_switch", "softswitch/simple_switch_grpc"),
    *("switch/bin/pip", "switch/bin/python", "switch/bin/simple_switch", "switch/bin/simple_switch_grpc"),
    *("dask", "debootstrap", "docker", "dockerd", "mpirun", "p4c-bm2-ss", "tshark", "vagrant", "wireshark"),
)
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

    page: str
    line: int
    kind: str
    text: str


@dataclass(frozen=True)
class Command:
    """A complete command line."""

    page: str
    line: int
    words: tuple[str, ...]
    is_inline: bool

    @property
    def text(self) -> str:
        """The command as it appears in the tables of the tests."""
        return " ".join(self.words)

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

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
    """Yield all fenced blocks of a page."""
    text = _read(page)
    for fence in _FENCE.finditer(text):
        yield Block(page, 2 + text.count("\n", 0, fence.start()), fence["kind"], fence["text"])


def commands_in(block: Block) -> Iterator[Command]:
    """Yield the commands of a shell block, with continuation lines joined."""
    parts: list[str] = []
    for number, line in enumerate(block.text.splitlines(), start=block.line):
        parts.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            words = shlex.split(" ".join(parts), comments=True)
            if words:
                yield Command(block.page, number - len(parts) + 1, tuple(words), is_inline=False)
            parts = []


def commands_of(page: str) -> list[Command]:
    """Return the commands of a page, in blocks and in inline code."""
    in_blocks = (command for block in blocks_of(page) if block.kind == SHELL for command in commands_in(block))
    return [*in_blocks, *(span for span in spans_of(page) if _is_command(span))]


def fragments_of(page: str) -> Iterator[Command]:
    """Yield inline code that consists of a verb with arguments, or of options."""
    for span in spans_of(page):
        if span.words[0].startswith("--") or (span.words[0] in VERBS and len(span.words) > 1):
            yield span


def spans_of(page: str) -> Iterator[Command]:
    """Yield the inline code of a page, split like a shell if possible, otherwise at blanks."""
    prose = _FENCE.sub(lambda fence: "\n" * fence[0].count("\n"), _read(page))
    for paragraph in _PARAGRAPH.finditer(prose):
        for span in _SPAN.finditer(paragraph[0]):
            line = 1 + prose.count("\n", 0, paragraph.start() + span.start())
            text = span[1].replace(r"\|", "|")
            try:
                words = shlex.split(text)
            except ValueError:
                words = text.split()
            if words:
                yield Command(page, line, tuple(words), is_inline=True)


def _is_command(span: Command) -> bool:
    rest = bare(span.words)
    return len(rest) > 1 and rest[0] in PROGRAMS and rest[1] != "..."


def filled(words: Sequence[str], values: dict[str, str]) -> list[str]:
    """Return the words with optional parts such as `[--json]` included, and with placeholders replaced by values."""
    result = []
    for word in words:
        plain = word
        if plain.startswith("["):
            plain = plain[1:].removesuffix("]")
        elif plain.endswith("]") and "[" not in plain:
            plain = plain[:-1]
        result.append(values.get(plain, plain))
    return result


def _read(page: str) -> str:
    return Path(ROOT, page).read_text(encoding="utf-8")
