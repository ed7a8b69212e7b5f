# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The BTS layout in docs/wire-format.md."""

from __future__ import annotations

import re

from tests.tree import ROOT
from wire.scapy_layers import BTS

DOCUMENT = (ROOT / "docs" / "wire-format.md").read_text()


def test_the_documented_bts_layout_is_the_scapy_layer() -> None:
    table = DOCUMENT.partition("## Back-To-Sender")[2].partition("\n\n28 bytes")[0]
    rows = [(int(offset), int(bits)) for offset, bits in re.findall(r"^\| (\d+) \| (\d+) \|", table, re.MULTILINE)]
    bits_before = 0
    expected = []
    for field in BTS.fields_desc:
        bits = getattr(field, "size", 0) or int(field.sz * 8)
        expected.append((bits_before // 8, int(bits)))
        bits_before += int(bits)
    assert rows == expected
    assert bits_before == 28 * 8
