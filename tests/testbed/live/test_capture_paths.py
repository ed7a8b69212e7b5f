# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Live captures and reports in folders whose names contain shell or markup characters."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.telemetry.captures.pcapng import Direction, read_capture
from tests.testbed import running

pytestmark = running.NEEDS_MININET
SMALL = ["--scale", "ci", "--dilation", "10000", "--set", "degree=2", "--set", "message_bytes=20000"]


@pytest.mark.parametrize(
    "name",
    ["two words", 'it\'s "$HOME"; exit 1', "q;id>X;", "$(touch X)`touch X`"],
    ids=["blank", "quotes", "separator", "substitution"],
)
def test_captures_are_written_below_any_folder(name: str, tmp_path: Path) -> None:
    out = tmp_path / name
    result = running.result_of("incast", *SMALL, "--pcap", "h1,tor1:h1", "--out", str(out))
    assert result["flows"]["completed"] == 2
    [folder] = out.iterdir()
    host, port = (list(read_capture(folder / "pcaps" / f"{name}.pcapng")) for name in ("h1-eth0", "tor1-eth1"))
    for direction in (Direction.IN, Direction.OUT):
        other = Direction.OUT if direction is Direction.IN else Direction.IN
        frames = sorted(record.frame for record in host if record.direction is direction)
        assert frames == sorted(record.frame for record in port if record.direction is other)
        assert frames
    clocks = {record.interface.clock for record in (*host, *port)}
    assert all(clock is not None and clock.model_us(host[0].time_ns) is not None for clock in clocks)
    assert [path.name for path in (folder / "pcaps").iterdir() if path.suffix != ".pcapng"] == []
    assert "packets captured" in (folder / "logs" / "tcpdump-h1.log").read_text()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert not (running.ROOT / "X").exists()
