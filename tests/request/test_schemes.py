# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of schemes: names and suffixes resolve, and their settings exist on switches and hosts."""

from __future__ import annotations

import pytest

from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.schemes import RATE_CONTROLS, SCHEMES, resolve_scheme
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.physics import network_physics
from sfc_testbed.topologies.shapes import shape

NETWORK = network_physics(shape("clos", {}).build())
EVERY_SCHEME = [*SCHEMES, *(f"{name}+{suffix}" for name in SCHEMES for suffix in RATE_CONTROLS)]


@pytest.mark.parametrize("name", EVERY_SCHEME)
def test_switches_and_hosts_accept_the_settings(name: str) -> None:
    scheme = resolve_scheme(name)
    SwitchSettings(**NETWORK.absolute(scheme.switch, tuple(SwitchSettings.model_fields)))
    TransportSettings(**scheme.transport)
    assert scheme.transport["congestion"] in CONGESTION_CONTROLS
    assert scheme.transport.get("flow_control", "none") in FLOW_CONTROLS
    assert scheme.transport["loss_recovery"] in LOSS_RECOVERIES


@pytest.mark.parametrize("name", ["tcp", "sfc+unknown", "", "+none"])
def test_unknown_names_list_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError, match="choose from"):
        resolve_scheme(name)


@pytest.mark.parametrize(
    ("name", "switch", "transport"),
    [
        ("pfc", {"pfc": True}, {"flow_control": "pfc", "congestion": "window"}),
        ("sfc-p+dcqcn", {"sfc_p": True, "ecn_kmin_bdp": 1}, {"flow_control": "pfc", "congestion": "dcqcn"}),
        ("sfc-est+hpcc", {"estimator": True, "int_telemetry": True}, {"flow_control": "sfc", "congestion": "hpcc"}),
        ("irn+hpcc", {}, {"ack_priority": "data"}),
        ("irn+dcqcn", {}, {"ack_priority": "data"}),
        ("ndp+dcqcn", {"load_balancing": "spray"}, {"congestion": "dcqcn", "ack_priority": "control"}),
        ("egress-bts+none", {"bts": "egress"}, {"flow_control": "sfc", "congestion": "none"}),
        ("sfc+qcn", {"bts": "ingress", "qcn_q_eq_bytes": 26_000}, {"flow_control": "sfc", "congestion": "qcn"}),
        ("irn+dctcp", {"ecn_kmin_bdp": 2.4, "ecn_kmax_bdp": 2.4}, {"congestion": "dctcp"}),
        ("onramp+dcqcn-no-window", {"ecn_kmax_bdp": 1}, {"congestion_parameters": {"window_bytes": 0}}),
    ],
)
def test_suffixes_add_to_the_settings_of_the_scheme(
    name: str, switch: dict[str, object], transport: dict[str, object]
) -> None:
    scheme = resolve_scheme(name)
    assert switch.items() <= scheme.switch.items()
    assert transport.items() <= scheme.transport.items()


@pytest.mark.parametrize("suffix", ["hpcc", "dcqcn", "dcqcn-no-window", "dctcp", "timely"])
def test_acknowledgements_wait_with_the_data_as_in_the_simulator(suffix: str) -> None:
    """The simulator's ACK_HIGH_PRIO does not reach its switches (docs/sources.md#priority-of-acks)."""
    assert TransportSettings(**resolve_scheme(f"irn+{suffix}").transport).ack_priority == "data"


@pytest.mark.parametrize(("name", "capped"), [("irn+none", True), ("irn", False), ("sfc+hpcc", False)])
def test_a_congestion_window_replaces_the_cap_of_irn(name: str, capped: bool) -> None:
    assert ("cap_packets" not in resolve_scheme(name).transport["loss_recovery_parameters"]) == capped
