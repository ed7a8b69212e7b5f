# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Small changes to a copy of the tree: the files that each touches, and the command that shows that it works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sfc_testbed.cli.output import EXIT_INVALID, EXIT_UNFINISHED
from tests.tree import LINKS, ROOT, files_of_tree

HEAD = "# SPDX-License-Identifier: Apache-2.0\n# SPDX-FileCopyrightText: SFC Testbed contributors\n"


Need = Callable[[], str | None]
"""A function that returns why a change cannot be tested on this machine, or None if it can."""


def p4c() -> str | None:
    """Return why p4c, which changes to P4 need, is unavailable, or None."""
    return None if shutil.which("p4c-bm2-ss") else "p4c-bm2-ss is not on the PATH"


def mininet() -> str | None:
    """Return why a live network, which changes to switches need, is unavailable, or None."""
    if os.geteuid() != 0:
        return "needs root"
    return None if shutil.which("mnexec") else "Mininet is not installed"


@dataclass(frozen=True)
class Change:
    """The files and lines of an addition, and the command that demonstrates it."""

    kind: str
    """The kind of addition, as in CONTRIBUTING's table."""
    new: Mapping[str, str]
    """New files with their text, without the license header."""
    rows: Mapping[str, Mapping[str, str]]
    """Existing files; for each, texts to insert before the first occurrence of their keys."""
    command: tuple[str, ...]
    """Words of the commands that demonstrate the addition, separated by `&&`; `python` is this interpreter.

    Each command must end with exit code 0. A live run may be late on a busy machine, and then ends with 3.
    """
    shows: str
    """A regular expression that the output of the last command must contain."""
    contract: tuple[str, ...] = ()
    """Arguments of pytest that select the contract tests of the addition, which run in the changed tree."""
    needs: tuple[Need, ...] = ()

    @property
    def places(self) -> set[str]:
        return {*self.new, *self.rows}

    def apply(self, tree: Path) -> None:
        for name, text in self.new.items():
            path = tree / name
            assert not path.exists(), f"{name} exists already"
            path.write_text(text if path.suffix == ".p4" else f"{HEAD}{text}")
        for name, insertions in self.rows.items():
            content = (tree / name).read_text()
            for place, text in insertions.items():
                assert place in content, f"{place!r} no longer exists"
                content = content.replace(place, text + place, 1)
            (tree / name).write_text(content)

    def demonstrate(self, tree: Path) -> str:
        """Run the commands in the changed tree, and return the output of the last one."""
        for words in self._commands():
            # the example of a P4 mechanism drops all data packets
            output = _output(words, tree, EXIT_UNFINISHED, *([EXIT_INVALID] if mininet in self.needs else []))
        return output

    def check_contract(self, tree: Path) -> None:
        """Run the contract tests of the changed tree; at least one must be about the addition."""
        if not self.contract:
            return
        output = _output([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *self.contract], tree)
        assert re.search(r"[1-9]\d* passed", output), output[-500:]

    def _commands(self) -> Iterator[list[str]]:
        words: list[str] = []
        for word in (*self.command, "&&"):
            if word == "&&":
                yield words
                words = []
            else:
                words.append(sys.executable if word == "python" else word)


def environment_of(tree: Path) -> dict[str, str]:
    """Return the environment of commands in a copy of the tree, which use the copy's softswitch."""
    return {**os.environ, "PYTHONPATH": str(tree / "softswitch" / "src")}


def _output(words: list[str], tree: Path, *also_accepted: int) -> str:
    done = subprocess.run(
        words, cwd=tree, env=environment_of(tree), capture_output=True, text=True, check=False, timeout=280
    )
    assert done.returncode in (0, *also_accepted), done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


ROWS = re.findall(r"^\| ([a-zA-Z0-9 ]+) \| (.*) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
LISTED = {kind: set(re.findall(r"`([\w./-]+/[\w./-]+\.\w+)`", places)) for kind, places in ROWS}
"""The files of each kind of change; `NAME` and `GROUP` stand for names that a contributor chooses."""


def are_listed(kind: str, places: set[str]) -> bool:
    """Return whether CONTRIBUTING.md lists exactly these files for a kind of change."""
    patterns = {re.escape(place).replace("NAME", r"\w+").replace("GROUP", r"\w+") for place in LISTED[kind]}
    pairs = {(pattern, place) for pattern in patterns for place in places if re.fullmatch(pattern, place)}
    return {pattern for pattern, _ in pairs} == patterns and {place for _, place in pairs} == places


def copy_of_tree(folder: Path, name: str = "tree") -> Path:
    """Copy the files of this checkout into `folder/name`, including those not added to git yet; return this path."""
    tree = folder / name
    for file in files_of_tree():
        if not file.startswith("docs/images"):
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / file, tree / file)
    for link, target in LINKS.items():
        (tree / "sfc_testbed" / link).symlink_to(target)
    return tree
