# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The testbed: `import sfc_testbed as sfc` offers the functions and classes of `__all__` (docs/api.md).

In a clone, some folders of the package are links to folders at the top of the tree. Python imports these from the top,
so that tracebacks, debuggers and coverage name the files that people edit. Type checkers follow the links.
"""

import os.path
from importlib import import_module
from typing import TYPE_CHECKING, Any

if os.path.islink(os.path.join(__path__[0], "hosts")):  # noqa: PTH114, PTH118 (every command imports this)
    __path__.insert(0, os.path.dirname(__path__[0]))  # noqa: PTH120

if TYPE_CHECKING:
    from sfc_testbed.api.comparison import Comparison as Comparison
    from sfc_testbed.api.errors import Error as Error
    from sfc_testbed.api.errors import Interrupted as Interrupted
    from sfc_testbed.api.errors import RunError as RunError
    from sfc_testbed.api.errors import UsageError as UsageError
    from sfc_testbed.api.functions import compare as compare
    from sfc_testbed.api.functions import load as load
    from sfc_testbed.api.functions import open_network as open_network
    from sfc_testbed.api.functions import run as run
    from sfc_testbed.api.functions import run_script as run_script
    from sfc_testbed.api.functions import sweep as sweep
    from sfc_testbed.api.run import Run as Run
    from sfc_testbed.api.sweep import Sweep as Sweep

_MODULES = {
    "Comparison": "sfc_testbed.api.comparison",
    "Error": "sfc_testbed.api.errors",
    "Interrupted": "sfc_testbed.api.errors",
    "Run": "sfc_testbed.api.run",
    "RunError": "sfc_testbed.api.errors",
    "Sweep": "sfc_testbed.api.sweep",
    "UsageError": "sfc_testbed.api.errors",
    "compare": "sfc_testbed.api.functions",
    "load": "sfc_testbed.api.functions",
    "open_network": "sfc_testbed.api.functions",
    "run": "sfc_testbed.api.functions",
    "run_script": "sfc_testbed.api.functions",
    "sweep": "sfc_testbed.api.functions",
}
"""The module of each public name. A module is loaded when one of its names is first used."""

__all__ = [*_MODULES]


def __getattr__(name: str) -> Any:
    """Return a public name, and load its module."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
