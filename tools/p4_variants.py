# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Variants of sfc.p4 with one change, compiled for classrooms without p4c: `python -m tools.p4_variants`.

Writes `NAME.diff`, the change of the source, and `NAME.json`, the compiled program for `--p4`, into examples/p4.
`sources.sha256` there has the hash of the sources and the changes. `make p4` runs this after `tools.compile_p4`.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sfc_testbed.place import ROOT
from sfc_testbed.testbed.program.sources import SOURCES, source_hash
from tools.compile_p4 import as_lines, compiler_command, missing_compiler, with_shared_actions

FOLDER = Path("examples/p4")
HASH_FILE = FOLDER / "sources.sha256"


@dataclass(frozen=True)
class Variant:
    """A program that differs from sfc.p4 in one file."""

    name: str
    meaning: str
    file: str
    """The changed file, relative to switch-bmv2."""
    before: str
    after: str
    inserted: str = ""
    """Declarations and calls that are inserted before the first statement of `apply`; `apply {` occurs once then."""

    def changed(self, text: str) -> str:
        """Return the changed text of the file. Raise ValueError unless the place occurs once."""
        apply = "    apply {\n"
        for place in (self.before, *([apply] if self.inserted else [])):
            if text.count(place) != 1:
                raise ValueError(f"{self.name}: {place!r} occurs {text.count(place)} times in {self.file}")
        return text.replace(self.before, self.after).replace(apply, self.inserted or apply)

    def diff(self) -> str:
        """Return the change as a unified diff, as `patch -p1` takes it."""
        path = SOURCES / self.file
        text = (ROOT / path).read_text()
        before, after = (part.splitlines(keepends=True) for part in (text, self.changed(text)))
        return "".join(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}"))


VARIANTS = (
    Variant(
        "early",
        "a queue triggers a BTS at half of Q_th",
        "include/control/bts/bts_cause.p4",
        "meta.queue_bytes > meta.q_th_bytes",
        "meta.queue_bytes > (meta.q_th_bytes >> 1)",
    ),
    Variant(
        "long_pause",
        "a pause is twice as long as the queue needs to drain to Q_tg",
        "include/control/bts/pause_time.p4",
        ">> 24;",
        ">> 23;",
    ),
    Variant(
        "half_of_the_flows",
        "a queue triggers a BTS only for half of the flows, those with an odd hash",
        "include/control/bts/bts_cause.p4",
        "meta.is_egress_watched == 0 && ",
        "meta.is_egress_watched == 0 && meta.flow_hash[0:0] == 1 && ",
    ),
    Variant(
        "own_table",
        "an entry of an additional table divides Q_th by a power of two; see [extensions](extensions.md#p4-programs)",
        "include/control/bts/bts_cause.p4",
        "meta.queue_bytes > meta.q_th_bytes",
        "meta.queue_bytes > (meta.q_th_bytes >> q_th_bits)",
        """\
    bit<8> q_th_bits = 0;

    action shift_q_th(bit<8> bits) {
        q_th_bits = bits;
    }

    table q_th_shift {
        actions = { @defaultonly shift_q_th; @defaultonly NoAction; }
        default_action = NoAction();
    }

    apply {
        q_th_shift.apply();
""",
    ),
)


def variants_hash() -> str:
    """Return the SHA-256 over the sources of the program and the changes of all variants."""
    parts = [source_hash(), *(f"{variant.name}\n{variant.diff()}" for variant in VARIANTS)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def compiled(variant: Variant, folder: Path) -> str:
    """Compile a variant in an empty folder and return its JSON. Raise RuntimeError if that is impossible."""
    shutil.copytree(ROOT / SOURCES, folder / SOURCES, ignore=shutil.ignore_patterns("artifacts"))
    file = folder / SOURCES / variant.file
    file.write_text(variant.changed(file.read_text()))
    command = compiler_command(folder, root=folder)
    assert command is not None
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0 or "warning" in done.stdout + done.stderr:
        raise RuntimeError(f"{variant.name}: {done.stderr}")
    return without_positions((folder / "sfc.json").read_text())


def without_positions(text: str) -> str:
    """Return compiled JSON as it is committed, but without its positions in the source, a quarter of its size."""
    return as_lines(with_shared_actions(_stripped(json.loads(text))))


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _stripped(part) for name, part in value.items() if name != "source_info"}
    return [_stripped(part) for part in value] if isinstance(value, list) else value


def main() -> int:
    missing = missing_compiler()
    if missing is not None:
        print(missing, file=sys.stderr)
        return 2
    for variant in VARIANTS:
        with TemporaryDirectory() as folder:
            try:
                text = compiled(variant, Path(folder))
            except (RuntimeError, ValueError) as error:
                print(error, file=sys.stderr)
                return 1
        (ROOT / FOLDER / f"{variant.name}.diff").write_text(variant.diff())
        (ROOT / FOLDER / f"{variant.name}.json").write_text(text)
    (ROOT / HASH_FILE).write_text(f"{variants_hash()}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
