# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A verb of the prompt: its usage, its summary and its action. Usage is data that checks and completes arguments.

A usage is a form such as `watch SWITCH [PORT] [SECONDS]`. Words in capitals are placeholders, brackets mark optional
words, `WORD...` takes all remaining words, and `on|off` lists literal words. A verb may have several forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sfc_testbed.testbed.prompt.terminal import Terminal
from sfc_testbed.testbed.prompt.words import VerbError

if TYPE_CHECKING:
    from sfc_testbed.testbed.live.session.session import LiveSession  # imports Mininet, which usages do not need

Act: TypeAlias = "Callable[[LiveSession, Terminal, Sequence[str]], str]"
Completions = Mapping[str, Callable[[Sequence[str]], Iterable[str]]]
"""Values that a placeholder may have, by its name: a function of the words before it."""


@dataclass(frozen=True)
class Verb:
    """A command word of the prompt, with its forms of usage and its action."""

    forms: tuple[str, ...]
    """Forms of usage, without the verb itself."""
    summary: str
    act: Act
    """Execute the verb and return the text to print last. Raises VerbError or UsageError if that is impossible."""

    def usage(self, name: str) -> str:
        """Return all forms of usage of the verb `name` as one line."""
        return " | ".join(f"{name} {form}".strip() for form in self.forms)

    def check(self, name: str, words: Sequence[str]) -> None:
        """Raise VerbError with the usage unless the words fit one of the forms."""
        if not any(_fits(form.split(), words) for form in self.forms):
            raise VerbError(f"usage: {self.usage(name)}")

    def candidates(self, words: Sequence[str], completions: Completions) -> list[str]:
        """Return the possible next words after these, for completion."""
        candidates: dict[str, None] = {}
        for form in self.forms:
            slots = form.split()
            if not _starts(slots, words):
                continue
            slot = _slot(slots, len(words))
            if slot is None:
                continue
            for choice in slot.split("|"):
                if choice in completions:
                    candidates |= dict.fromkeys(completions[choice](words))
                elif not choice.isupper():
                    candidates[choice] = None
        return list(candidates)


def _bare(slot: str) -> str:
    return slot.removeprefix("[").removesuffix("]").removesuffix("...")


def _slot(slots: Sequence[str], index: int) -> str | None:
    """Return the slot of the word at an index; None if the form has no such slot."""
    if index < len(slots):
        return _bare(slots[index])
    return _bare(slots[-1]) if slots and slots[-1].rstrip("]").endswith("...") else None


def _starts(slots: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether a form could begin with these words."""
    return all(_takes(_slot(slots, index), word) for index, word in enumerate(words))


def _takes(slot: str | None, word: str) -> bool:
    if slot is None:
        return False
    choices = slot.split("|")
    return any(choice.isupper() for choice in choices) or word in choices


def _fits(slots: Sequence[str], words: Sequence[str]) -> bool:
    required = sum(not slot.startswith("[") for slot in slots)
    return required <= len(words) and _starts(slots, words)
