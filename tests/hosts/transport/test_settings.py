# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the transport settings: validation, dilation and conversion to plain values."""

import dataclasses
import inspect
import json
from typing import Any

import pytest

from sfc_testbed.hosts.transport.messages import OutgoingMessage
from sfc_testbed.hosts.transport.settings import TransportSettings, dilate
from sfc_testbed.wire.dilation import Dilation


def test_settings_survive_json() -> None:
    settings = TransportSettings(congestion="window", congestion_parameters={"window_ns": 50_000}, verify=False)
    assert TransportSettings.from_dict(json.loads(json.dumps(settings.as_dict()))) == settings


def test_dilation_changes_only_durations_and_rates() -> None:
    wall = dilate(TransportSettings(), Dilation(1000))
    assert (wall.line_rate_bps, wall.base_rtt_ns, wall.rto_ns) == (100_000_000, 10_000_000, 4_000_000_000)
    assert (wall.payload_bytes, wall.ack_every, wall.congestion) == (1000, 1, "none")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"congestion": "cubic"}, "unknown congestion control 'cubic'; choose from none, window"),
        ({"flow_control": "stop"}, "unknown flow control 'stop'; choose from none, sfc"),
        ({"loss_recovery": "hope"}, "unknown loss recovery 'hope'; choose from go-back-n, irn"),
        ({"loss_recovery_parameters": {"rto": 1}}, "unknown parameter rto; choose from nak_interval_ns"),
        ({"flow_control_parameters": {"x": 1}}, "unknown parameter x; choose from none"),
        ({"speed": 1}, "unknown parameter speed"),
        ({"payload_bytes": 0}, "payload_bytes: must be at least 1 B"),
    ],
)
def test_an_invalid_setting_is_an_error_with_the_valid_values(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TransportSettings.from_dict(fields)


def test_every_setting_has_a_docstring() -> None:
    """The docstrings are the reference manual of the settings."""
    source = inspect.getsource(TransportSettings)
    for item in dataclasses.fields(TransportSettings):
        next_line = source.split(f"\n    {item.name}:", 1)[1].split("\n", 2)[1]
        assert next_line.strip().startswith('"""'), item.name


@pytest.mark.parametrize("fields", [{"size_bytes": 0}, {"source_qpn": 0}, {"destination_qpn": 1 << 24}])
def test_impossible_messages_are_refused(fields: dict[str, int]) -> None:
    valid = {"source_qpn": 1, "destination_qpn": 1, "destination_ip": 1, "size_bytes": 1, "ready_ns": 0}
    values: dict[str, Any] = {**valid, **fields}
    with pytest.raises(ValueError, match="flow 1"):
        OutgoingMessage(1, **values)
