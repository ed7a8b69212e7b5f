# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A live capture of one flow, and the history of the flow that `trace` derives from it."""

from __future__ import annotations

from pathlib import Path

from sfc_testbed.telemetry.captures.pcapng import read_capture
from tests.testbed import running

pytestmark = running.NEEDS_MININET
SMALL = ["--scale", "ci", "--dilation", "10000", "--set", "degree=3", "--set", "message_bytes=20000"]


def test_a_capture_of_a_flow_has_its_packets_on_all_hops(tmp_path: Path) -> None:
    result = running.result_of("incast", *SMALL, "--pcap", "flow:2", "--out", str(tmp_path))
    assert result["flows"]["completed"] == 3
    [folder] = tmp_path.iterdir()
    frames = {path.name: [record.frame for record in read_capture(path)] for path in (folder / "pcaps").iterdir()}
    [source] = [name for name in frames if name.startswith("h") and name != "h16-eth0.pcapng"]
    assert len(frames[source]) == len(frames["h16-eth0.pcapng"]) >= 40
    assert len({frame[26:30] for frame in frames[source]}) == 2
    done = running.run("trace", "2", "--run", str(folder))
    assert done.returncode == 0, done.stderr
    assert "lost" not in done.stdout
    for event in ("sent", "queued", "arrived", "ACK sent", "ACK queued", "acknowledged"):
        assert event in done.stdout
