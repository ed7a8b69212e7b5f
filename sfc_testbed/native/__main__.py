# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m sfc_testbed.native`: compiles the host engine unless it is in the cache.

If it cannot be compiled, the command prints one line and exits with status 0. The engine then runs from its sources,
slower and with the same results.
"""

from __future__ import annotations

import os
import signal
import sys

from os_helpers.parent import die_with_parent
from sfc_testbed.native.first_use import WITH_FILES, compile_engine, compile_files

_INTERRUPTED = 130


def _end_with_run() -> None:
    """End this process and its compilers, as for Ctrl-C, if the run that started their group is killed."""
    if os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, lambda number, frame: os.killpg(0, signal.SIGINT))
        die_with_parent()


if __name__ == "__main__":
    _end_with_run()
    try:
        if WITH_FILES in sys.argv[1:]:
            compile_files(sys.stdin.read())
        else:
            compile_engine()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
