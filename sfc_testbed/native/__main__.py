# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m sfc_testbed.native`: compiles the host engine unless it is in the cache.

If it cannot be compiled, the command prints one line and exits with status 0. The engine then runs from its sources,
slower and with the same results.
"""

from __future__ import annotations

import sys

from sfc_testbed.native.first_use import WITH_FILES, compile_engine, compile_files

_INTERRUPTED = 130

if __name__ == "__main__":
    try:
        if WITH_FILES in sys.argv[1:]:
            compile_files(sys.stdin.read())
        else:
            compile_engine()
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
