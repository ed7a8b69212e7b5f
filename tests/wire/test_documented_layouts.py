# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The layouts of signals in docs/wire-format.md are those of the scapy layers."""

from __future__ import annotations

import re

import pytest
from scapy.packet import Packet

from sfc_testbed.wire.scapy_layers import BTS, TCPSignal
from tests.tree import ROOT

DOCUMENT = (ROOT / "docs" / "wire-format.md").read_text()


@pytest.mark.parametrize(
    ("heading", "layer", "length_bytes"), [("## Back-To-Sender", BTS, 18), ("### TCP signal", TCPSignal, 6)]
)
def test_the_documented_layout_is_the_scapy_layer(heading: str, layer: type[Packet], length_bytes: int) -> None:
    table = DOCUMENT.partition(heading)[2].partition("\n##")[0]
    rows = [(int(offset), int(bits)) for offset, bits in re.findall(r"^\| (\d+) \| (\d+) \|", table, re.MULTILINE)]
    bits_before = 0
    expected = []
    for field in layer.fields_desc:
        bits = getattr(field, "size", 0) or int(field.sz * 8)
        expected.append((bits_before // 8, int(bits)))
        bits_before += int(bits)
    assert rows == expected
    assert bits_before == length_bytes * 8
