# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compiles switch-bmv2/sfc.p4 into switch-bmv2/artifacts with p4c from the PATH, else from its Docker image.

Writes `sfc.json`, `sfc.p4info.txtpb` and `sources.sha256`, the hash of the sources the two were compiled from.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path("switch-bmv2/sfc.p4")
ARTIFACTS = Path("switch-bmv2/artifacts")
IMAGE = "p4lang/p4c:stable"


def source_hash(root: Path = ROOT) -> str:
    """SHA-256 over the names and contents of all P4 sources."""
    digest = hashlib.sha256()
    for path in sorted((root / "switch-bmv2").rglob("*.p4")):
        digest.update(f"{path.relative_to(root)}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def compiler_command(output: Path) -> list[str] | None:
    """How to call p4c here, or None where there is neither p4c nor Docker."""
    arguments = ["--std", "p4-16", "--p4runtime-files", str(output / "sfc.p4info.txtpb")]
    arguments += ["-o", str(output / "sfc.json"), str(PROGRAM)]
    if shutil.which("p4c-bm2-ss"):
        return ["p4c-bm2-ss", *arguments]
    if shutil.which("docker"):
        mount = ["--volume", f"{ROOT}:/work", "--volume", f"{output}:{output}", "--workdir", "/work"]
        return ["docker", "run", "--rm", *mount, IMAGE, "p4c-bm2-ss", *arguments]
    return None


def main() -> int:
    command = compiler_command(ARTIFACTS)
    if command is None:
        print("p4c is needed: neither p4c-bm2-ss nor docker is on the PATH", file=sys.stderr)
        return 2
    if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
        return 1
    (ROOT / ARTIFACTS / "sources.sha256").write_text(source_hash() + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
