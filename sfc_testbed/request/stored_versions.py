# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Messages about stored files that another release of SFC Testbed wrote.

Readers accept files of older releases, and files of newer releases whose additions they can ignore. The version in a
file is the version of its format. It rises only if older releases would misread the file.
"""

from __future__ import annotations

_LONGEST_VERSION = 20


def version_refused(name: str, version: object, readable: int, writer: str | None = None) -> str:
    """Return why a format version cannot be read, which release wrote the file, and what to do.

    The text is the end of a line that begins with the file's name.
    """
    refused = f"{name} version {str(version)[:_LONGEST_VERSION]}{written_by(writer)}, this release reads {readable}"
    if not isinstance(version, int):
        return refused
    if version > readable:
        return f"{refused}; upgrade SFC Testbed to read it"
    return f"{refused}; read it with {f'SFC Testbed {writer}' if writer else 'the release that wrote it'}"


def written_by(writer: str | None) -> str:
    """Return the release that wrote a file as the end of a phrase; empty if it is unknown."""
    return f" (written by SFC Testbed {writer})" if writer else ""


def version_in(schema: object, name: str) -> int | None:
    """Return the version in a JSON file's schema, such as 3 in `sfc-testbed/config/3`; None for other schemas."""
    digits = schema.removeprefix(f"sfc-testbed/{name}/") if isinstance(schema, str) else ""
    return int(digits) if digits.isdecimal() and len(digits) <= _LONGEST_VERSION else None
