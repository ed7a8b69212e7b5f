# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command `sfc-testbed`, which is `./runner.py` in a clone. All of it is in `cli/`."""

import signal

signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))  # before anything that takes a while to load

import gc
import os
import sys

gc.disable()  # imports create many objects and drop none; `cli.app` enables it again

if os.geteuid() == 0 and os.stat(__file__).st_uid != 0:  # noqa: PTH116 (before anything is imported)
    # The owner of the package could not remove folders of root's bytecode.
    sys.dont_write_bytecode = True
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"

from sfc_testbed.place import how_to_install_for_python, program
from sfc_testbed.testbed.interrupt import end_at_once

_REQUIRED = {"rich": "rich", "typer": "typer", "softswitch": "softswitch-*.whl", "os_helpers": "softswitch-*.whl"}
"""The packages without which no command runs, by the name of their module."""


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
        from sfc_testbed.native.late import leave_out_plugins

        leave_out_plugins()
    except ModuleNotFoundError as error:
        if error.name not in _REQUIRED:
            raise
        package = _REQUIRED[error.name]
        sys.exit(f"{program()}: the Python package {package} is missing; {how_to_install_for_python(package)}")
    sys.exit(execute(sys.argv[1:]))
