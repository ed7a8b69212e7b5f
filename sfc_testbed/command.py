# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command `sfc-testbed`, which is `./runner.py` in a clone. All of it is in `cli/`."""

import signal

signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))  # before anything that takes a while to load

import os
import sys

from sfc_testbed.testbed.interrupt import end_at_once


def main() -> None:
    """Execute the command that was typed, and exit with its status."""
    # NumPy's linear algebra, which no part uses heavily, would start threads that wait actively and use CPU time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Plots are written to files. A notebook's backend, which its commands inherit, may not be installed here.
    os.environ["MPLBACKEND"] = "agg"
    end_at_once()
    try:
        if any(word.endswith(".py") for word in sys.argv[1:]):
            from sfc_testbed.request.extensions import choose_compiled

            choose_compiled(sys.argv[1:])
        from sfc_testbed.cli.app import main as execute
    except ModuleNotFoundError as error:
        if error.name not in ("rich", "typer", "os_helpers"):
            raise
        sys.exit(f"{os.path.basename(sys.argv[0])}: the set-up has not run here; type `make setup` first")  # noqa: PTH119
    sys.exit(execute(sys.argv[1:]))
