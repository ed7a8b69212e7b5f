# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""P4 sources to BMv2 JSON, by p4c where it is installed. Must not know what is made of the JSON."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

from compiled.cache import private_cache
from softswitch.build import BuildError

_SHOWN_ERROR_LINES = 20


def program_json(program: Path) -> Path:
    """A program's BMv2 JSON: the file itself, or what p4c makes of a `.p4`, kept in the cache by its content.

    Raises BuildError where p4c is missing or refuses the source, CacheRefused, and OSError.
    """
    if program.suffix != ".p4":
        return program
    program.stat()  # the system says in a line what p4c would say in four
    compiler = shutil.which("p4c-bm2-ss")
    if compiler is None:
        raise BuildError(f"{program}: no p4c-bm2-ss on the PATH to compile it; give the JSON that p4c makes of it")
    cache = private_cache()
    with tempfile.TemporaryDirectory(prefix=".build-", dir=cache) as folder:
        made = Path(folder, f"{program.stem}.json")
        command = [compiler, "--std", "p4-16", "-o", str(made), str(program)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lines = "\n".join((done.stderr or done.stdout).splitlines()[:_SHOWN_ERROR_LINES])
            raise BuildError(f"p4c-bm2-ss refuses {program}:\n{lines}")
        kept = cache / f"{program.stem}-{hashlib.sha256(made.read_bytes()).hexdigest()[:24]}.json"
        made.replace(kept)
    return kept
