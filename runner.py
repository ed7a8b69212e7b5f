#!/usr/bin/env -S --block-signal=INT --block-signal=TERM python3 -S
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command: run, compare, validate, reproduce, sweep, cli, list, report, export, doctor, clean.

It finds the clone's environment. All else is in `sfc_testbed/command.py` and `sfc_testbed/cli/`.
"""

import signal

signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))  # also where it was not started by its name

import os
import sys

ROOT = os.path.dirname(os.path.realpath(__file__))
if os.geteuid() == 0 and os.stat(ROOT).st_uid != 0:
    # The owner of the tree could not remove folders of root's bytecode.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
_VENV = os.path.join(ROOT, ".venv")
_PYTHON = os.path.join(_VENV, "bin", "python")
if sys.prefix != _VENV and os.path.exists(_PYTHON):
    os.execv(_PYTHON, [_PYTHON, *sys.argv])
if sys.flags.no_site:  # the first line says so, because the lines above need no packages
    os.execv(sys.executable, [sys.executable, *sys.argv])

try:
    import softswitch
except ModuleNotFoundError as error:
    if error.name != "softswitch":
        raise
    sys.exit("runner.py: the set-up has not run here; type `make setup` first")

_SOFTSWITCH = os.path.join(ROOT, "softswitch", "src", "softswitch")
if softswitch.__file__ is None or os.path.dirname(os.path.realpath(softswitch.__file__)) != _SOFTSWITCH:
    # The digest of the code, by which results are compared, is that of this tree.
    sys.exit(f"runner.py: Python finds another softswitch, not {_SOFTSWITCH}; type `make setup` first")

from sfc_testbed.command import main

if __name__ == "__main__":
    main()
