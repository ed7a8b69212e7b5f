#!/usr/bin/env -S --block-signal=INT --block-signal=TERM python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command: run, compare, validate, reproduce, sweep, cli, list, report, export, doctor, clean.

It finds the clone's environment. All else is in `sfc_testbed/command.py` and `sfc_testbed/cli/`.
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

try:
    import softswitch
except ModuleNotFoundError as error:
    if error.name != "softswitch":
        raise
    sys.exit("runner.py: the set-up has not run here; type `make setup` first")

_SOFTSWITCH = ROOT / "softswitch" / "src" / "softswitch"
if softswitch.__file__ is None or Path(softswitch.__file__).resolve().parent != _SOFTSWITCH:
    # The digest of the code, by which results are compared, is that of this tree.
    sys.exit(f"runner.py: Python finds another softswitch, not {_SOFTSWITCH}; type `make setup` first")

from sfc_testbed.command import main

if __name__ == "__main__":
    main()
