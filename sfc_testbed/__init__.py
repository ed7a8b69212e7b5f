# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The testbed.

In a clone, some folders of the package are links to folders at the top of the tree. Python imports these from the top,
so that tracebacks, debuggers and coverage name the files that people edit. Type checkers follow the links.
"""

import os.path

if os.path.islink(os.path.join(__path__[0], "hosts")):  # noqa: PTH114, PTH118 (every command imports this)
    __path__.insert(0, os.path.dirname(__path__[0]))  # noqa: PTH120
