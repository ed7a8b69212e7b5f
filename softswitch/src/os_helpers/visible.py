# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Escapes invisible characters in text from files, programs and the network, which could control a terminal."""


def visible(text: str, keep: str = "") -> str:
    """Return the text with invisible characters escaped: control characters, text directions, lone surrogates.

    Characters in `keep` are not escaped.
    """
    if text.isprintable() or (keep and text.translate(dict.fromkeys(map(ord, keep))).isprintable()):
        return text
    return "".join(char if char.isprintable() or char in keep else repr(char)[1:-1] for char in text)
