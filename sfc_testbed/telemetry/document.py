# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Generates the column tables of docs/traces.md from `telemetry.schema`: `python -m sfc_testbed.telemetry.document`.

Each table is located between two marker comments. The text around the tables is written by hand and not changed.
"""

from __future__ import annotations

import argparse
import re
import sys

from sfc_testbed.place import ROOT
from sfc_testbed.telemetry.atomic_file import replace_text
from sfc_testbed.telemetry.schema import OPTIONAL_SCHEMAS, SCHEMAS, TraceSchema

DOCUMENT = ROOT / "docs" / "traces.md"


def render_table(schema: TraceSchema) -> str:
    """Return the version and meaning of a trace, followed by its columns as a Markdown table."""
    lines = [
        f"`{schema.file_name}`, version {schema.version}. {schema.meaning}",
        "",
        "| column | type | unit | meaning |",
        "|---|---|---|---|",
    ]
    for column in schema.columns:
        dtype = str(column.dtype()) + (" or null" if column.nullable else "")
        lines.append(f"| `{column.name}` | {dtype} | {column.unit or '-'} | {column.meaning} |")
    return "\n".join(lines)


def render_document(text: str) -> str:
    """Return `text` with a new table between each pair of markers. Raise ValueError if a pair is missing."""
    for schema in (*SCHEMAS.values(), *OPTIONAL_SCHEMAS.values()):
        begin, end = f"<!-- begin {schema.name} -->", f"<!-- end {schema.name} -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        replacement = f"{begin}\n{render_table(schema)}\n{end}"
        text, count = pattern.subn(lambda _, table=replacement: table, text)  # type: ignore[misc]
        if count != 1:
            raise ValueError(f"expected one pair of markers {begin} {end}, found {count}")
    return text


def main(arguments: list[str] | None = None) -> int:
    """Rewrite the document, or with --check only report whether it is current. Return 1 if it is not, else 0."""
    parser = argparse.ArgumentParser(prog="python -m sfc_testbed.telemetry.document", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if the tables are not current")
    options = parser.parse_args(arguments)
    current = DOCUMENT.read_text(encoding="utf-8")
    rendered = render_document(current)
    if options.check and rendered != current:
        print(f"{DOCUMENT.name}: tables are not current; run python -m sfc_testbed.telemetry.document", file=sys.stderr)
        return 1
    if rendered != current:
        replace_text(DOCUMENT, rendered)
    return 0


if __name__ == "__main__":
    sys.exit(main())
