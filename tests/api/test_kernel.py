# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The public functions in a real kernel of Jupyter: progress, results as the output of a cell, and a live network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.kernel import needs_kernel, outputs
from tests.testbed import running

IMPORT = "import sfc_testbed as sfc\nsettings = {'degree': 2, 'message_bytes': 2000}"


@needs_kernel
def test_cells_show_results_and_progress_disappears(tmp_path: Path) -> None:
    runs = "run = sfc.run('incast', settings=settings)\nrun"
    compared = "sfc.compare('incast', 'irn,sfc', settings=settings, jobs=2).table()"
    quiet = "_ = sfc.run('incast', settings=settings, quiet=True)"
    refused = "try:\n    sfc.run('incst')\nexcept sfc.UsageError as error:\n    print(error)"
    _, run, table, none, refusal = outputs([IMPORT, runs, compared, quiet, refused], tmp_path)
    for shown in (run, table):
        *lines, result = shown
        assert lines and all(line["output_type"] == "display_data" for line in lines)
        assert all("".join(line["data"]["text/html"]) == "" for line in lines)
        assert result["output_type"] == "execute_result"
        assert "faithful" in "".join(result["data"]["text/html"])
    assert none == []
    assert _text(refusal).startswith("unknown scenario 'incst'")


@needs_kernel
@running.needs_mininet
def test_live_network_opens_in_a_cell(tmp_path: Path) -> None:
    opened = (
        "with sfc.open_network('star') as net:\n    print(net)\n    print(net.wait([net.send('h1', 'h2', '20KB')]))"
    )
    _, shown = outputs([IMPORT, opened], tmp_path)
    assert _text(shown).startswith("<Network star under sfc")
    assert _text(shown).endswith("True\n")


def _text(outputs: list[Any]) -> str:
    return "".join(line for output in outputs for line in output.get("text", ()))
