# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Verbs as data: usage checks and completes arguments. Also parsing of words and drawing of curves."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from rich.console import Console

from sfc_testbed.testbed.prompt import words
from sfc_testbed.testbed.prompt.curve import curve
from sfc_testbed.testbed.prompt.terminal import Terminal
from sfc_testbed.testbed.prompt.verb import Completions, Verb
from sfc_testbed.testbed.prompt.words import VerbError
from sfc_testbed.wire.dilation import Dilation

COMPLETIONS: Completions = {
    "HOST": lambda before: ("h1", "h2"),
    "SWITCH": lambda before: ("s1",),
    "PORT": lambda before: ("1", "2") if list(before) == ["s1"] else (),
}


def _verb(*forms: str) -> Verb:
    return Verb(forms, "does it", lambda session, terminal, words: "")


@pytest.mark.parametrize(
    ("forms", "typed"),
    [
        (("",), ""),
        (("SRC DST [SIZE]",), "h1 h2"),
        (("SRC DST [SIZE]",), "h1 h2 5"),
        (("SWITCH COMMAND...",), "s1 table_dump x"),
        (("HOST on|off", "SWITCH PORT on|off"), "s1 2 off"),
        (("[SWITCH]", "-f [SECONDS]"), "-f 3"),
    ],
)
def test_words_that_fit_a_form_are_accepted(forms: Sequence[str], typed: str) -> None:
    _verb(*forms).check("it", typed.split())


@pytest.mark.parametrize(
    ("form", "typed"),
    [
        ("", "more"),
        ("SRC DST [SIZE]", "h1"),
        ("SRC DST [SIZE]", "h1 h2 5 6"),
        ("SWITCH COMMAND...", "s1"),
        ("HOST on|off", "h1 maybe"),
    ],
)
def test_words_that_fit_no_form_raise_the_usage(form: str, typed: str) -> None:
    with pytest.raises(VerbError) as caught:
        _verb(form).check("it", typed.split())
    assert str(caught.value) == f"usage: it {form}".strip()


PORTS = ("HOST on|off", "SWITCH PORT on|off")


@pytest.mark.parametrize(
    ("forms", "before", "candidates"),
    [
        (PORTS, "", ["h1", "h2", "s1"]),
        (PORTS, "s1", ["on", "off", "1", "2"]),
        (PORTS, "s1 1", ["on", "off"]),
        (PORTS, "s1 1 on", []),
        (("HOST...",), "h1 h2 h1", ["h1", "h2"]),
    ],
)
def test_arguments_are_completed_from_the_forms(forms: Sequence[str], before: str, candidates: Sequence[str]) -> None:
    assert _verb(*forms).candidates(before.split(), COMPLETIONS) == candidates


@pytest.mark.parametrize(
    ("word", "size"), [("250KB", 250_000), ("1.5MB", 1_500_000), ("64000", 64_000), ("2gb", 2 * 10**9), ("7B", 7)]
)
def test_sizes(word: str, size: int) -> None:
    """A KB has 1000 bytes, as everywhere in this project."""
    assert words.size_bytes(word) == size


def test_durations() -> None:
    """Durations of verbs are model time in us, durations of live views are wall time in seconds."""
    assert [words.duration_us(word) for word in ("50us", "1ms", "7")] == [50, 1000, 7]
    assert [words.seconds(word) for word in ("5", "5s", "500ms")] == [5, 5, 0.5]


def test_rates_are_of_the_model_or_of_the_wall_clock() -> None:
    """A plain number is in model Gb/s; a suffix such as M selects wall bits/s, as in Mininet's iperfudp."""
    assert [words.wall_bps(word, Dilation(1000)) for word in ("5", "10M", "2k")] == [5_000_000, 10_000_000, 2_000]
    with pytest.raises(VerbError, match="the rate must be a rate such as 400G or 25Gbps, not 'fast'"):
        words.wall_bps("fast", Dilation(1000))


@pytest.mark.parametrize("word", ["", "KB", "1e3", "-5", "5XB", "nan", "0x10", "1Kib/s"])
def test_an_invalid_size_is_an_error(word: str) -> None:
    with pytest.raises(VerbError, match="must be a size such as 250KB"):
        words.size_bytes(word)


def test_a_curve_has_a_scale_a_threshold_and_at_most_its_columns() -> None:
    lines = curve([0, 500_000, 1_000_000], columns=40, rows=4, threshold=500_000)
    assert len(lines) == 4
    assert lines[0].split() == ["1000", "KB", "█"]
    assert lines[1].split() == ["500", "KB", "┄┄█"]
    assert [line[-1] for line in lines] == ["█", "█", "█", "█"]
    assert [line[-2] for line in lines[2:]] == ["█", "█"]
    lines = curve(list(range(1000)), columns=50, rows=3)
    assert max(map(len, lines)) <= 50
    assert lines[0].endswith("█")


def test_no_name_steers_the_terminal() -> None:
    """Newlines and tabs are kept, because they are the layout of the text."""
    output: list[str] = []
    Terminal(output.append, Console(), has_keys=False).say("table\t3\n\x1b[2J\x9b31m\u202e: 4")
    assert output == ["table\t3\n\\x1b[2J\\x9b31m\\u202e: 4\n"]
