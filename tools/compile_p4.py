# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m tools.compile_p4` compiles the programs of switch-bmv2 with p4c from the PATH, else from its Docker image.

Writes the declarations of counters first (`tools.counters`). Into switch-bmv2/artifacts go `NAME.json`, its lines not
indented, and `NAME.p4info.txtpb` for each program, and `sources.sha256`, the hash of the sources they come from: every
run is refused while the sources have another (`testbed.program.sources`).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from softswitch.p4c import COMPILER, LANGUAGE
from testbed.program.sources import ARTIFACTS, HASH_FILE, ROOT, SOURCES, source_hash
from tools import counters

__all__ = ["PROGRAMS", "ROOT", "SOURCES", "compiler_command", "main", "source_hash", "without_indentation"]

PROGRAMS = ("sfc", "wire")
IMAGE = "p4lang/p4c:latest"


def compiler_command(output: Path, program: str = "sfc", root: Path = ROOT) -> list[str] | None:
    """How to call p4c in `root` for one program of it, or None where there is neither p4c nor Docker."""
    arguments = [*LANGUAGE, "--p4runtime-files", str(output / f"{program}.p4info.txtpb")]
    if program != "sfc":  # takes a few of its declarations
        arguments.append("--Wdisable=unused")
    arguments += ["-o", str(output / f"{program}.json"), str(SOURCES / f"{program}.p4")]
    if shutil.which(COMPILER):
        return [COMPILER, *arguments]
    if shutil.which("docker"):
        mount = ["--volume", f"{root}:/work", "--workdir", "/work"]
        if output.is_absolute():  # any other one is below `root`
            mount += ["--volume", f"{output}:{output}"]
        return ["docker", "run", "--rm", *mount, IMAGE, COMPILER, *arguments]
    return None


def without_indentation(text: str) -> str:
    """JSON as p4c lays it out, line for line, in half of its bytes. No string of JSON goes over the end of a line."""
    return re.sub(r"^ +", "", text, flags=re.MULTILINE)


def main() -> int:
    counters.main()
    for program in PROGRAMS:
        command = compiler_command(ARTIFACTS, program)
        if command is None:
            print("p4c is needed: neither p4c-bm2-ss nor docker is on the PATH", file=sys.stderr)
            return 2
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            return 1
        written = ROOT / ARTIFACTS / f"{program}.json"
        written.write_text(without_indentation(written.read_text()))
    (ROOT / HASH_FILE).write_text(source_hash() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
