# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Print the digests of the traces of six virtual runs, or compare them with those of another machine.

python -m tools.virtual_digests [FILE]

Four runs compute with floating-point numbers on every ACK. FILE has the output of this command on the other machine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import sfc_testbed as sfc
from os_helpers.kept import file_digest

RUNS = (
    ("incast", "sfc"),
    ("bystanders", "sfc-p"),
    ("hadoop-50", "sfc+hpcc"),
    ("incast", "irn+swift"),
    ("bystanders", "pfc+dcqcn"),
    ("incast", "irn+powertcp"),
)
"""Scenarios, at scale ci, and schemes."""
_DURATION_MS = 1.0


def digests() -> Iterator[str]:
    """Yield a line for each trace: scenario, scheme, file and digest."""
    for scenario, scheme in RUNS:
        with TemporaryDirectory() as name:
            run = sfc.run(scenario, scheme=scheme, duration_ms=_DURATION_MS, out=name)
            for path in sorted(Path(run.folder).glob("*.parquet")):
                yield f"{scenario} {scheme} {path.name} {file_digest(path)}"


def main(words: list[str]) -> int:
    """Print the lines. With a file, return 1 if its lines differ, and print those that differ."""
    lines = []
    for line in digests():
        print(line, flush=True)
        lines.append(line)
    if not words:
        return 0
    expected = Path(words[0]).read_text().splitlines()
    different = sorted({*lines} ^ {*expected})
    print(f"{len(lines)} traces, {len(different)} lines differ from {words[0]}", *different, sep="\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
