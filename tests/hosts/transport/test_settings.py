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


@pytest.mark.parametrize(
    ("congestion", "parameters", "message"),
    [
        ("bolt", {"min_packets": 5.0, "max_packets": 5.0}, r"min_packets: must be below max_packets \(5\), not 5"),
        ("bolt", {"additive_packets": 0.0}, "additive_packets: must be above 0, not 0"),
        ("bolt", {"max_decrease": 1.0}, "max_decrease: must be below 1, not 1"),
        ("dctcp", {"gain": 0.0}, "gain"),
        ("dctcp", {"min_rate_bps": 0}, "min_rate_bps"),
        ("dctcp", {"additive_bps": -1}, "additive_bps"),
        ("dctcp", {"beta": 0.5}, "beta"),
        ("hpcc", {"preset": "hp"}, "preset: must be 'run.py' or 'mix/config.txt', not 'hp'"),
        ("powertcp", {"gamma": 0.0}, "gamma"),
        ("powertcp", {"target": 3.0}, "target"),
        ("powertcp", {"min_rate_bps": 0}, "min_rate_bps"),
        ("powertcp", {"eta": 0.95}, "eta"),
        ("swift", {"flow_min_packets": 200.0}, r"flow_min_packets: must be below flow_max_packets \(100\), not 200"),
        ("swift", {"min_packets": 5.0, "max_packets": 5.0}, r"min_packets: must be below max_packets \(5\), not 5"),
        ("swift", {"beta": 0.0}, "beta: must be above 0, not 0"),
        ("swift", {"base_target_ns": 0}, "base_target_ns: must be at least 1 ns, not 0"),
        ("theta-powertcp", {"gamma": 0.0}, "gamma"),
        ("theta-powertcp", {"allowance": 0.9}, "allowance"),
        ("theta-powertcp", {"min_rate_bps": 0}, "min_rate_bps"),
        ("theta-powertcp", {"eta": 0.95}, "eta"),
        ("timely", {"low_ns": 600_000}, r"low_ns: must be at most high_ns \(500000 ns\), not 600000"),
        ("timely", {"beta": 1.5}, "beta: must be at most 1"),
        ("timely", {"min_rtt_ns": 0}, "min_rtt_ns: must be at least 1 ns, not 0"),
    ],
)
def test_a_bad_parameter_is_refused_in_one_line(congestion: str, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        TransportSettings(congestion=congestion, congestion_parameters=parameters)
    assert "\n" not in str(error.value)


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
