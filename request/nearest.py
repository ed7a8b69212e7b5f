# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Suggests known names for an unknown one."""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_NAMES = 3
_LONGEST_NAME = 80


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message, such as `; nearest: degree`, or an empty string if no known name is close."""
    if len(name) > _LONGEST_NAME:
        return ""
    by_lower = {known_name.lower(): known_name for known_name in known}
    matches = get_close_matches(name.lower(), list(by_lower), _MOST_NAMES)
    return f"; nearest: {', '.join(by_lower[match] for match in matches)}" if matches else ""
