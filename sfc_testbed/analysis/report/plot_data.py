# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The data of a page's plots as JSON, and the scripts that draw them in the browser.

Arrays are 32-bit floats in base64: a third of the size of decimal numbers, and quick to write. The drawing library is
read from the package `bokeh`, which is not imported.
"""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import copyfileobj
from typing import Any

import numpy as np

from os_helpers.visible import visible
from sfc_testbed.analysis.plots.description import Axis, Marks, Plot, Segments
from sfc_testbed.telemetry.atomic_file import replace_file

DATA = '<script type="application/json" class="plot-data">'
"""The beginning of the element with a plot's data."""
_LIBRARY = "server/static/js/bokeh.min.js"
_OWN_SCRIPT = Path(__file__).parent / "templates" / "plots.js"


def plot_data(plot: Plot) -> str:
    """Return an HTML element with a plot's data. No text of the plot can end the element."""
    data = json.dumps(plot, default=_encoded, separators=(",", ":")).replace("<", r"\u003c")
    return f"{DATA}{data}</script>"


def _encoded(value: Any) -> Any:
    """Return an array as base64, and a part of a plot as its fields and the name of its kind."""
    if isinstance(value, np.ndarray):
        return b64encode(value.astype("<f4").tobytes()).decode()
    fields = {
        name: visible(field, keep="\n") if isinstance(field, str) else field for name, field in vars(value).items()
    }
    if isinstance(value, (Segments, Marks)):
        fields |= {name: list(map(visible, fields[name])) for name in ("texts", "labels") if name in fields}
    if isinstance(value, Axis):
        fields["ticks"] = [(place, _shown(name)) for place, name in value.ticks]
    return {"kind": type(value).__name__, **fields}


def _shown(value: object) -> object:
    return visible(value, keep="\n") if isinstance(value, str) else value


def write_page(path: Path, page: str) -> None:
    """Write a page atomically, with the scripts at its end if it has plots that the browser draws.

    The library is copied as it is: as a part of the text it would be decoded, joined and encoded again.
    """
    before, end, after = page.rpartition("</body>")

    def write(partial: Path) -> None:
        with partial.open("wb") as out:
            out.write(before.encode())
            for script in _scripts() if DATA in before else ():
                out.write(b"<script>")
                with script.open("rb") as source:
                    copyfileobj(source, out)
                out.write(b"</script>\n")
            out.write(f"{end}{after}".encode())

    replace_file(path, write)


@cache
def _scripts() -> tuple[Path, Path]:
    """Return the files with the library and with our own script."""
    package = find_spec("bokeh")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("pages need the package bokeh; install the testbed again")
    return Path(package.origin).parent / _LIBRARY, _OWN_SCRIPT
