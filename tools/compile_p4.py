# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compiles the P4 programs of switch-bmv2: `python -m tools.compile_p4`.

Uses p4c from the PATH, or else from its Docker image. First writes the declarations of the counters (`tools.counters`).
Then writes `NAME.json`, without indentation, and `NAME.p4info.txtpb` for each program into switch-bmv2/artifacts. The
file `sources.sha256` there has the hash of the sources: runs are refused while the sources have a different hash
(`testbed.program.sources`).
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
    """Return the command that compiles `program` in the folder `root`, or None without p4c and Docker."""
    arguments = [*LANGUAGE, "--p4runtime-files", str(output / f"{program}.p4info.txtpb")]
    if program != "sfc":  # the other programs use only a few of the shared declarations
        arguments.append("--Wdisable=unused")
    arguments += ["-o", str(output / f"{program}.json"), str(SOURCES / f"{program}.p4")]
    if shutil.which(COMPILER):
        return [COMPILER, *arguments]
    if shutil.which("docker"):
        mount = ["--volume", f"{root}:/work", "--workdir", "/work"]
        if output.is_absolute():  # a relative path is inside `root`, which is mounted already
            mount += ["--volume", f"{output}:{output}"]
        return ["docker", "run", "--rm", *mount, IMAGE, COMPILER, *arguments]
    return None


def without_indentation(text: str) -> str:
    """Remove the indentation of p4c's JSON, half of its size. The content stays: no JSON string spans lines."""
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
        path = ROOT / ARTIFACTS / f"{program}.json"
        path.write_text(without_indentation(path.read_text()))
    (ROOT / HASH_FILE).write_text(source_hash() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
