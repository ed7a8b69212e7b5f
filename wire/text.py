# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What somebody gave, as it stands in a line that refuses it."""

_LONGEST = 60


def shown(value: object) -> str:
    """A value as it was given, cut where it is long."""
    return shortened(repr(value))


def shortened(text: str) -> str:
    """A text that fits into a line."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
