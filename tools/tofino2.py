# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compiles switch-tofino2 with p4c-barefoot, bfas and p4c-bm2-ss from the PATH: `python -m tools.tofino2`.

Stores in docs/stored/tofino2.json what each variant of the program needs of the chip, the control plane's tables, and
the hash of the sources; writes the tables of docs/targets/tofino2.md; and compiles the vectors for v1model.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sfc_testbed.documents.stored import replaced
from sfc_testbed.place import ROOT
from sfc_testbed.testbed.program.sources import SOURCES as SHARED
from softswitch.p4c import COMPILER, LANGUAGE

SOURCES = Path("switch-tofino2")
PROGRAM = SOURCES / "sfc_t2na.p4"
VECTORS = SOURCES / "vectors.p4"
ARTIFACT = SOURCES / "artifacts" / "vectors.json"
STORED = Path("docs/stored/tofino2.json")
DOCUMENT = Path("docs/targets/tofino2.md")
COMPILERS = ("p4c-barefoot", "bfas", COMPILER)
VARIANTS: Mapping[str, tuple[str, ...]] = {
    "whole program, 32 Ki cache entries": (),
    "whole program, 4 Ki cache entries": ("CACHE_BITS=12",),
    "forwarding": ("ONE_MECHANISM",),
    "forwarding, SFC-P": ("ONE_MECHANISM", "WITH_SFC_P"),
    "forwarding, BTS by queue": ("ONE_MECHANISM", "WITH_TRIGGER"),
    "forwarding, BTS by queue, suppression": ("ONE_MECHANISM", "WITH_TRIGGER", "WITH_FILTER"),
    "forwarding, BTS by queue, estimator": ("ONE_MECHANISM", "WITH_TRIGGER", "WITH_ESTIMATOR"),
    "forwarding, BTS by queue, 32 Ki cache entries": ("ONE_MECHANISM", "WITH_TRIGGER", "WITH_PAUSE_CACHE"),
    "forwarding, BTS by queue, 4 Ki cache entries": (
        "ONE_MECHANISM",
        "WITH_TRIGGER",
        "WITH_PAUSE_CACHE",
        "CACHE_BITS=12",
    ),
}
"""The macros of each variant of the program."""
COLUMNS: Mapping[str, str] = {
    "ingress_stages": "ingress stages",
    "egress_stages": "egress stages",
    "sram_blocks": "SRAM blocks",
    "tcam_blocks": "TCAM blocks",
    "meter_alus": "stateful ALUs",
    "hash_bits": "hash bits",
    "phv_bits": "PHV bits",
    "power_watts": "power, W",
}
EXPLAINED: Mapping[str, str] = {
    "hash group": r"(duplicate|conflicting) hash group|previous definition here|hash group \d+ mergeable conflict",
    "hash table": r"exact hashtable \d+ does not exist in table",
    "instruction slot": r"Conflicting instruction slot usage|and table \w+ action",
}
"""Warnings of the assembler that docs/targets/tofino2.md explains; another warning ends this command."""
LOST_MATCHES = "Can't match parser state"
_TARGET = ("--target", "tofino2")
COPY = "__gen_duplicate_ping_pong"
"""The compiler's suffix for the second copy of a register that a ghost thread writes."""


def tofino2_hash() -> str:
    """Return the SHA-256 over the names and contents of all P4 sources of the program."""
    digest = hashlib.sha256()
    shared = (ROOT / SHARED / "include" / name for name in ("constants.p4", "headers.p4", "sizes.p4", "types.p4"))
    for path in sorted([*(ROOT / SOURCES).rglob("*.p4"), *shared]):
        digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def missing_compiler() -> str | None:
    """Return one line that says which compiler is missing; None if all are there."""
    missing = [name for name in COMPILERS if shutil.which(name) is None]
    return f"{missing[0]} is not on the PATH; {DOCUMENT} says how to build it" if missing else None


def compiled(macros: tuple[str, ...], folder: Path) -> Counter[str]:
    """Compile and assemble a variant into a folder; return the assembler's warnings by kind.

    RuntimeError if one fails, or warns of something that the page does not explain.
    """
    defines = [f"-D{macro}" for macro in ("__TARGET_TOFINO__=2", "__TOFINO2_VARIANT__=1", *macros)]
    quiet = ("--Wdisable=unused", "--Wdisable=uninitialized_use", "--Wdisable=uninitialized_out_param")
    written = ("--verbose", "--display-power-budget", "--bf-rt-schema", str(folder / "bf-rt.json"), "-o", str(folder))
    compiler = [COMPILERS[0], *_TARGET, "--arch", "t2na", "--std", "p4-16", "-g", *quiet, *defines, *written]
    pipe = folder / "pipe"
    _said([*compiler, str(PROGRAM)])
    said = _said([COMPILERS[1], *_TARGET, "-o", str(pipe), str(pipe / f"{PROGRAM.stem}.bfa")])
    kinds: Counter[str] = Counter()
    for line in said.splitlines():
        if LOST_MATCHES in line:
            raise RuntimeError(f"{line}\nThis {COMPILERS[0]} loses the conditions of the parser: {DOCUMENT}")
        kind = next((kind for kind, pattern in EXPLAINED.items() if re.search(pattern, line)), None)
        if kind is None and re.search("warning|error", line):
            raise RuntimeError(f"{line}\n{DOCUMENT} does not explain this warning of {COMPILERS[1]}")
        kinds.update([kind] if kind else [])
    return kinds


def _said(command: list[str]) -> str:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} ends with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def needs(folder: Path) -> dict[str, float]:
    """Return what the chip spends on a compiled variant, with the keys of COLUMNS."""
    logs = folder / "pipe" / "logs"
    stages = json.loads((logs / "resources.json").read_text())["resources"]["mau"]["mau_stages"]
    power = json.loads((logs / "power.json").read_text())
    last: Counter[str] = Counter()
    for table in power["tables"]:
        for stage in table["stages"]:
            last[table["gress"]] = max(last[table["gress"]], stage["stage_number"] + 1)
    containers = json.loads((logs / "phv.json").read_text())["containers"]

    def used(unit: str, places: str) -> int:
        return sum(len(stage[unit][places]) for stage in stages)

    return {
        "ingress_stages": last["ingress"],
        "egress_stages": last["egress"],
        "sram_blocks": used("rams", "srams"),
        "tcam_blocks": used("tcams", "tcams"),
        "meter_alus": used("meter_alus", "meters"),
        "hash_bits": used("hash_bits", "bits"),
        "phv_bits": sum(container["bit_width"] for container in containers if container["slices"]),
        "power_watts": round(sum(thread["power"] for thread in power["total_power"]), 2),
    }


def capacity(folder: Path) -> dict[str, int]:
    """Return what the chip has, per pipe."""
    logs = folder / "pipe" / "logs"
    mau = json.loads((logs / "resources.json").read_text())["resources"]["mau"]
    stage, stages = mau["mau_stages"][0], mau["nStages"]
    groups = json.loads((logs / "phv.json").read_text())["resources"]
    return {
        "ingress_stages": stages,
        "egress_stages": stages,
        "sram_blocks": stages * stage["rams"]["nColumns"] * stage["rams"]["nRows"],
        "tcam_blocks": stages * stage["tcams"]["nColumns"] * stage["tcams"]["nRows"],
        "meter_alus": stages * stage["meter_alus"]["nAlus"],
        "hash_bits": stages * stage["hash_bits"]["nBits"] * stage["hash_bits"]["nFunctions"],
        "phv_bits": sum(
            group["bit_width"] * group["num_containers"] for group in groups if group["group_type"] == "mau"
        ),
    }


def tables(folder: Path) -> dict[str, Any]:
    """Return the match tables of the program: table -> keys, and actions -> parameters, as BF Runtime names them."""
    return dict(_tables(json.loads((folder / "bf-rt.json").read_text())["tables"]))


def _tables(every: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    for table in every:
        if table["table_type"] == "MatchAction_Direct":
            actions = {action["name"]: [datum["name"] for datum in action["data"]] for action in table["action_specs"]}
            yield table["name"], {"keys": [key["name"] for key in table["key"]], "actions": actions}


def register_blocks(folder: Path) -> dict[str, int]:
    """Return the SRAM blocks of each register, of both its copies where a ghost thread writes it."""
    stages = json.loads((folder / "pipe" / "logs" / "resources.json").read_text())["resources"]["mau"]["mau_stages"]
    usages = (usage for stage in stages for block in stage["rams"]["srams"] for usage in block["usages"])
    names = (usage["used_by"].removesuffix(COPY) for usage in usages if usage["used_for"] == "stateful_ram")
    return dict(sorted(Counter(names).items()))


def _claims(stored: Mapping[str, Any]) -> Iterator[str]:
    every, blocks = stored["chip"]["sram_blocks"], stored["registers"]
    rows = sum(count for name, count in blocks.items() if name.startswith("suppression_row"))
    cache, smaller = blocks["pause_cache_entries"], stored["registers, 4 Ki cache entries"]["pause_cache_entries"]
    yield "| claim of the paper, section 4 | this program |\n|---|---|"
    yield (
        '| The suppression filter takes "less than 0.1% of available SRAM". | The filter takes '
        f"{rows} of {every} blocks, {rows / every:.2%}. "
        f"The claim {'holds' if rows / every < 0.001 else 'does not hold'}. |"
    )
    yield (
        '| The pause cache is a "simple hash-addressed register (32K entries per table)". | '
        f"32 Ki entries of 64 bits take {cache} of {every} blocks, {cache / every:.2%}. "
        f"4 Ki entries take {smaller} blocks. |"
    )


def document_text(text: str, stored: Mapping[str, Any]) -> str:
    """Return the text of the page with tables of the stored figures."""
    has = stored["chip"]
    lines = ["| compiled parts | " + " | ".join(COLUMNS.values()) + " |", "|---|" + "---:|" * len(COLUMNS)]
    for name, figures in stored["variants"].items():
        lines.append(f"| {name} | " + " | ".join(f"{figures[column]:g}" for column in COLUMNS) + " |")
    lines.append("| a pipe of the chip has | " + " | ".join(f"{has.get(column, '')}" for column in COLUMNS) + " |")
    for name, table in (("resources", lines), ("claims", _claims(stored))):
        text = replaced(DOCUMENT, text, name, "\n".join(table))
    return text


def main() -> int:
    missing = missing_compiler()
    if missing is not None:
        print(missing, file=sys.stderr)
        return 2
    stored: dict[str, Any] = {"sources": tofino2_hash(), "variants": {}}
    try:
        for name, macros in VARIANTS.items():
            with TemporaryDirectory() as temporary:
                folder = Path(temporary)
                warnings = compiled(macros, folder)
                stored["variants"][name] = needs(folder)
                if not macros:
                    stored |= {"chip": capacity(folder), "warnings": dict(warnings), "tables": tables(folder)}
                    stored["registers"] = register_blocks(folder)
                elif macros == ("CACHE_BITS=12",):
                    stored["registers, 4 Ki cache entries"] = register_blocks(folder)
            print(f"{name}: {stored['variants'][name]}")
        with TemporaryDirectory() as temporary:
            output = Path(temporary) / ARTIFACT.name
            _said([COMPILER, *LANGUAGE, "--Wdisable=unused", "-o", str(output), str(VECTORS)])
            compact = json.dumps(json.loads(output.read_text()), separators=(",", ":"))
            (ROOT / ARTIFACT).write_text(f"{compact}\n")
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    (ROOT / STORED).write_text(json.dumps(stored, indent=1) + "\n")
    document = ROOT / DOCUMENT
    document.write_text(document_text(document.read_text(), stored))
    return 0


if __name__ == "__main__":
    sys.exit(main())
