# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compiles the P4 programs of switch-bmv2: `python -m tools.compile_p4`.

Uses p4c from the PATH, or else from its Docker image. First writes the declarations of the counters (`tools.counters`).
Then writes `NAME.json`, with shared actions and without indentation, and `NAME.p4info.txtpb` for each program into
switch-bmv2/artifacts. The file `sources.sha256` there has the hash of the sources: runs are refused while the sources
have a different hash (`testbed.program.sources`).
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from sfc_testbed.place import ROOT
from sfc_testbed.testbed.program.sources import ARTIFACTS, HASH_FILE, HOW_TO_GET_IT, SOURCES, source_hash
from softswitch.p4c import COMPILER, LANGUAGE
from tools import counters

PROGRAMS = ("sfc", "wire")
IMAGE = "p4lang/p4c:latest"


def missing_compiler() -> str | None:
    """Return one line that says why neither p4c nor its Docker image can be used; None if one can."""
    if shutil.which(COMPILER):
        return None
    if not shutil.which("docker"):
        reason = "docker is not there either"
    else:
        for words in (("image", "inspect"), ("pull", "--quiet")):
            done = subprocess.run(["docker", *words, IMAGE], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                return None
        details = done.stderr.strip().splitlines() or ["no reason given"]
        reason = f"Docker cannot get {IMAGE} ({details[-1]})"
    return (
        f"{COMPILER} is not on the PATH, and {reason}. `tools/provision.sh p4` installs p4c where it is available; "
        f"{HOW_TO_GET_IT}, and docs/data-plane.md#without-p4c what can be changed without it."
    )


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
    """Remove the indentation of JSON, half of its size. The content stays: no JSON string spans lines."""
    return re.sub(r"^ +", "", text, flags=re.MULTILINE)


def with_shared_actions(program: dict[str, Any]) -> dict[str, Any]:
    """Return a compiled program in which equal copies of an action are one. p4c copies an action for each call."""
    kept: dict[str, dict[str, Any]] = {}
    number_of: dict[int, int] = {}
    for action in program["actions"]:
        content = json.dumps([action["name"], action["runtime_data"], action["primitives"]])
        number_of[action["id"]] = kept.setdefault(content, {**action, "id": len(kept)})["id"]
    for table in (table for pipeline in program["pipelines"] for table in pipeline["tables"]):
        table["action_ids"] = [number_of[number] for number in table["action_ids"]]
        for entry in (table.get("default_entry"), *(entry["action_entry"] for entry in table.get("entries", ()))):
            if entry is not None:
                entry["action_id"] = number_of[entry["action_id"]]
    return {**program, "actions": [*kept.values()]}


def as_stored(text: str) -> str:
    """Return p4c's JSON as it is committed: with shared actions, and without indentation."""
    return as_lines(with_shared_actions(json.loads(text)))


def as_lines(program: dict[str, Any]) -> str:
    """Return a compiled program as JSON without indentation."""
    return f"{without_indentation(json.dumps(program, indent=1, separators=(',', ':')))}\n"


def main() -> int:
    missing = missing_compiler()
    if missing is not None:
        print(missing, file=sys.stderr)
        return 2
    counters.main()
    for program in PROGRAMS:
        command = compiler_command(ARTIFACTS, program)
        assert command is not None
        if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
            return 1
        path = ROOT / ARTIFACTS / f"{program}.json"
        path.write_text(as_stored(path.read_text()))
    (ROOT / HASH_FILE).write_text(source_hash() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
