# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares a frame with an expected pattern and prints the difference. It must not know the source of frames."""

from __future__ import annotations

from itertools import zip_longest

BYTES_A_ROW = 16


def first_difference(pattern: str, exact_length: bool, frame: bytes) -> str | None:
    """Return the first mismatch of a frame, or None if it matches. Longer frames match unless `exact_length` is set."""
    digits = frame.hex()
    for place, (wanted, got) in enumerate(zip(pattern, digits, strict=False)):
        if wanted not in ("*", got):
            wanted_byte = pattern[place & ~1 : (place & ~1) + 2]
            return f"byte {place // 2} is {digits[place & ~1 : (place & ~1) + 2]}, not {wanted_byte}"
    if len(digits) < len(pattern):
        return f"{len(frame)} bytes are fewer than {(len(pattern) + 1) // 2}"
    if exact_length and len(digits) > len(pattern):
        return f"{len(frame)} bytes are more than {(len(pattern) + 1) // 2}"
    return None


def hex_diff(pattern: str, frame: bytes) -> str:
    """Return rows of the pattern and the frame in hex; rows that differ are marked, with carets under their digits."""
    digits = frame.hex()
    rows = []
    step = 2 * BYTES_A_ROW
    for at in range(0, max(len(pattern), len(digits)), step):
        wanted, got = pattern[at : at + step], digits[at : at + step]
        marks = "".join(_mark(w, g) for w, g in zip_longest(wanted, got, fillvalue=" "))
        differs = bool(marks.strip())
        rows.append(f"{'-' if differs else ' '} {at // 2:04x}  {_spaced(wanted)}")
        if differs:
            rows += [f"+ {at // 2:04x}  {_spaced(got)}", f"        {_spaced(marks)}".rstrip()]
    return "\n".join(rows)


def _mark(wanted: str, got: str) -> str:
    return " " if wanted in ("*", got) else "^"


def _spaced(digits: str) -> str:
    return " ".join(digits[i : i + 2] for i in range(0, len(digits), 2))
