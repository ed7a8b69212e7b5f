# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The format of the P4 sources: licence, width, white space. Neither Debian nor PyPI has a formatter of P4."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.place import ROOT

SOURCES = sorted(path for folder in ("switch-bmv2", "switch-tofino2") for path in (ROOT / folder).rglob("*.p4"))
WIDTH = 133


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_source_has_the_format(path: Path) -> None:
    text = path.read_text()
    assert text.startswith(
        "// SPDX-License-Identifier: Apache-2.0\n// SPDX-FileCopyrightText: SFC Testbed contributors\n\n"
    )
    assert text.endswith("\n") and not text.endswith("\n\n")
    for number, line in enumerate(text.splitlines(), 1):
        place = f"{path}:{number}"
        assert "\t" not in line, place
        assert line == line.rstrip(), place
        assert len(line) <= WIDTH, place
        assert not line.strip().startswith("}") or (len(line) - len(line.lstrip())) % 4 == 0, place
    assert text.count("{") == text.count("}"), path
