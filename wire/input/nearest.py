# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What somebody may have meant by a name that there is not."""

from collections.abc import Iterable
from difflib import get_close_matches

_MOST_NAMES = 3
_LONGEST_NAME = 80


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a refusal: `; nearest: degree`. Nothing where no known name is near."""
    if len(name) > _LONGEST_NAME:
        return ""
    by_lower = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), list(by_lower), _MOST_NAMES)
    return f"; nearest: {', '.join(by_lower[each] for each in found)}" if found else ""
