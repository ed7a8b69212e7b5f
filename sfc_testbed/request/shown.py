# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Values and names in messages about bad input. Every command loads this module, so it must not import pydantic."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_LONGEST_SHOWN = 60
_LONGEST_COMPARED = 80
_MOST_NAMES = 3


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message, such as `; nearest: degree`, or an empty string if no known name is close."""
    if len(name) > _LONGEST_COMPARED:
        return ""
    by_lower = {known_name.lower(): known_name for known_name in known}
    matches = get_close_matches(name.lower(), list(by_lower), _MOST_NAMES)
    return f"; nearest: {', '.join(by_lower[match] for match in matches)}" if matches else ""


def shown(value: object) -> str:
    """Return the repr of a value, shortened to fit into a message."""
    return shortened(repr(value))


def shortened(text: str) -> str:
    """Return a text, cut after 60 characters so that it fits into a line."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
