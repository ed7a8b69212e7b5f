#!/usr/bin/env -S --block-signal=INT --block-signal=TERM python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command: run, compare, validate, reproduce, sweep, cli, list, report, export, doctor, clean.

All of it is in `cli/`.
"""

import signal

signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))  # also where it was not started by its name

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
if os.geteuid() == 0 and ROOT.stat().st_uid != 0:
    # The owner of the tree could not remove folders of root's bytecode.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
_VENV_PYTHON = ROOT / ".venv" / "bin" / "python"
if Path(sys.prefix) != ROOT / ".venv" and _VENV_PYTHON.exists():
    os.execv(_VENV_PYTHON, [str(_VENV_PYTHON), *sys.argv])

# NumPy's linear algebra, which no part uses heavily, would start threads that wait actively and use CPU time.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Plots are written to files. A notebook's backend, which its commands inherit, may not be installed here.
os.environ["MPLBACKEND"] = "agg"

from testbed.interrupt import end_at_once

end_at_once()  # before anything that takes a while to load

try:
    import softswitch
    from cli.app import main
except ModuleNotFoundError as error:
    if error.name not in ("rich", "typer", "os_helpers"):
        raise
    sys.exit("runner.py: the set-up has not run here; type `make setup` first")

_SOFTSWITCH = ROOT / "softswitch" / "src" / "softswitch"
if softswitch.__file__ is None or Path(softswitch.__file__).resolve().parent != _SOFTSWITCH:
    # The digest of the code, by which results are compared, is that of this tree.
    sys.exit(f"runner.py: Python finds another softswitch, not {_SOFTSWITCH}; type `make setup` first")

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
