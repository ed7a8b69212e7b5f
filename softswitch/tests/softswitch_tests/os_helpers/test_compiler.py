# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the C compiler of the environment."""

from __future__ import annotations

import pytest

from os_helpers.compiler import compiler_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("clang", ("clang",)),
        ("ccache gcc -m64", ("ccache", "gcc", "-m64")),
        ("'/opt/my cc/gcc'", ("/opt/my cc/gcc",)),
        ("", ("cc",)),
        ("  ", ("cc",)),
        ('gcc "', ('gcc "',)),
    ],
)
def test_a_compiler_may_have_several_words(text: str, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", text)
    assert compiler_words() == words
    monkeypatch.delenv("CC")
    assert compiler_words() == ("cc",)
