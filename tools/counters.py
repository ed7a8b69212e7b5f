# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Generates the P4 declarations of the counters and the table in docs/data-plane.md from `wire.counters`.

Run it as `python -m tools.counters`. `make p4` and `make docs` run it too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from wire.counters import COUNTERS, EVENT_BITS, PEAKS, Counter

ROOT = Path(__file__).resolve().parent.parent
P4_FILE = ROOT / "switch-bmv2" / "include" / "counters.p4"
DOCUMENT = ROOT / "docs" / "data-plane.md"

_HEAD = f"""\
// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// What this program counts. Made by `make p4` from wire/counters.py, where a counter is added.
#ifndef SFC_COUNTERS_P4
#define SFC_COUNTERS_P4

#include "sizes.p4"

#define EVENT_BITS {EVENT_BITS}
"""
_MARKED = re.compile(r"(?<=<!-- begin counters -->\n).*?(?=<!-- end counters -->)", re.DOTALL)


def p4_text() -> str:
    """Return the text of switch-bmv2/include/counters.p4."""
    return "\n".join([_HEAD, *(line for counter in COUNTERS for line in _declaration(counter)), "#endif", ""])


def document_text(text: str) -> str:
    """Return docs/data-plane.md with a new table. Raise ValueError unless it has one pair of markers."""
    table = "".join(f"{line}\n" for line in _table())
    text, count = _MARKED.subn(lambda _: table, text)
    if count != 1:
        raise ValueError(f"expected one pair of markers of counters, found {count}")
    return text


def _declaration(counter: Counter) -> Iterator[str]:
    index, bits = ("port ++ event", "(PORT_BITS + EVENT_BITS)") if counter.is_per_port else ("event", "EVENT_BITS")
    kind = "packets_and_bytes" if counter.counts_bytes else "packets"
    yield f"// {counter.meaning[0].upper()}{counter.meaning[1:]}. Index: {index}."
    yield f"enum bit<EVENT_BITS> {counter.enum} {{"
    rows = [f"{event.label} = {int(event)}" for event in counter.events]
    rows[:-1] = [f"{row}," for row in rows[:-1]]
    width = max(map(len, rows))
    for row, event in zip(rows, counter.events, strict=True):
        yield f"    {row:{width}}  // {event.meaning}"
    yield "}"
    yield ""
    yield f"counter(1 << {bits}, CounterType.{kind}) {counter.name};"
    yield ""


def _table() -> Iterator[str]:
    yield "| counter | index | event | what | balance | in `result.json` |"
    yield "|---|---|---|---|---|---|"
    for counter in COUNTERS:
        for event in counter.events:
            index = f"port x {1 << EVENT_BITS} + {int(event)}" if counter.is_per_port else str(int(event))
            fields = ", ".join(f"`{field}`" for field in event.fields) or ("`drops`" if counter.is_per_port else "-")
            cells = (f"`{counter.name}`", index, f"`{event.label}`", event.meaning, event.role.value, fields)
            yield f"| {' | '.join(cells)} |"
    for peak in PEAKS:
        yield f"| `{peak.register}` (register) | {peak.index} | - | {peak.meaning} | - | `{peak.field}` |"


def main() -> int:
    P4_FILE.write_text(p4_text(), encoding="utf-8")
    DOCUMENT.write_text(document_text(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
