# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m tests.fuzz MINUTES`: runs the fuzz tests with new inputs until one fails or the time is over.

Exit codes: 0 no test failed, 1 a test failed, 2 bad input.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from tests.fuzz.budget import FRESH_VARIABLE


def main(words: list[str]) -> int:
    """Run rounds of the fuzz tests; return the exit code."""
    try:
        [minutes] = map(float, words)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes < 100_000:
        print("fuzz: MINUTES must be one number above 0", file=sys.stderr)
        return 2
    end_s = time.monotonic() + 60 * minutes
    cores = str(len(os.sched_getaffinity(0)))
    folder = Path(__file__).parent
    rounds = 0
    while time.monotonic() < end_s:
        rounds += 1
        command = [sys.executable, "-m", "pytest", "-q", "-n", cores, str(folder)]
        if subprocess.run(
            command, env={**os.environ, FRESH_VARIABLE: "1"}, cwd=folder.parents[1], check=False
        ).returncode:
            return 1
    print(f"fuzz: no test failed in {rounds} rounds of new inputs")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
