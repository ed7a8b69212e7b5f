# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A verb of the prompt: how it is used, what it is for, what it does. Usage is data: it checks and completes arguments.

A usage is a form such as `watch SWITCH [PORT] [SECONDS]`: words in capitals stand for things, those in brackets may be
left out, `WORD...` takes the rest, `on|off` are words themselves. A verb may have several forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from testbed.live.prompt.terminal import Terminal
from testbed.live.prompt.words import VerbError

if TYPE_CHECKING:
    from testbed.live.session.session import LiveSession  # needs Mininet, which usages do not

Act: TypeAlias = "Callable[[LiveSession, Terminal, Sequence[str]], str]"
Known = Mapping[str, Callable[[Sequence[str]], Iterable[str]]]
"""What a word in capitals may be, given the words before it."""


@dataclass(frozen=True)
class Verb:
    """A word of the prompt."""

    forms: tuple[str, ...]
    """Without the verb itself."""
    summary: str
    act: Act
    """Gives what is to be printed last; VerbError and UsageError for what cannot be."""

    def usage(self, name: str) -> str:
        """All forms."""
        return " | ".join(f"{name} {form}".strip() for form in self.forms)

    def check(self, name: str, words: Sequence[str]) -> None:
        """VerbError with the usage unless the words fit one of the forms."""
        if not any(_fits(form.split(), words) for form in self.forms):
            raise VerbError(f"usage: {self.usage(name)}")

    def candidates(self, words: Sequence[str], known: Known) -> list[str]:
        """What the next word may be, after these."""
        found: dict[str, None] = {}
        for form in self.forms:
            slots = form.split()
            if not _starts(slots, words):
                continue
            slot = _slot(slots, len(words))
            if slot is None:
                continue
            for each in slot.split("|"):
                if each in known:
                    found |= dict.fromkeys(known[each](words))
                elif not each.isupper():
                    found[each] = None
        return list(found)


def _bare(slot: str) -> str:
    return slot.removeprefix("[").removesuffix("]").removesuffix("...")


def _slot(slots: Sequence[str], index: int) -> str | None:
    """The slot that the word at an index falls into."""
    if index < len(slots):
        return _bare(slots[index])
    return _bare(slots[-1]) if slots and slots[-1].rstrip("]").endswith("...") else None


def _starts(slots: Sequence[str], words: Sequence[str]) -> bool:
    """Whether a form could begin with these words."""
    return all(_takes(_slot(slots, index), word) for index, word in enumerate(words))


def _takes(slot: str | None, word: str) -> bool:
    if slot is None:
        return False
    choices = slot.split("|")
    return any(choice.isupper() for choice in choices) or word in choices


def _fits(slots: Sequence[str], words: Sequence[str]) -> bool:
    least = sum(not slot.startswith("[") for slot in slots)
    return least <= len(words) and _starts(slots, words)
