# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for warnings about settings that a transport is not made for."""

from __future__ import annotations

import pytest

from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from tests.testbed.incasts import plan_incast


@pytest.mark.parametrize(
    ("scheme", "warned"),
    [("gbn", ["go-back-n"]), ("irn", ["irn"]), ("sfc+powertcp", ["irn", "powertcp"]), ("ndp", []), ("ndp+dcqcn", [])],
)
def test_spraying_is_warned_of_unless_the_transport_tolerates_it(scheme: str, warned: list[str]) -> None:
    warnings = plan_incast(scheme, "switch.load_balancing=spray").config.setting_warnings
    assert [name in warning for name, warning in zip(warned, warnings, strict=True)] == [True] * len(warned)
    assert all(warning.startswith("switch.load_balancing=spray: ") for warning in warnings)
    assert plan_incast(scheme, "switch.load_balancing=ecmp").config.setting_warnings == ()


@pytest.mark.parametrize("balancing", ["spray", "oblivious", "reps"])
@pytest.mark.parametrize("scheme", ["irn", "sfc+powertcp", "irn+hpcc", "ndp"])
def test_the_option_load_balancing_makes_the_transport_tolerate_it(scheme: str, balancing: str) -> None:
    plan = plan_incast(scheme, load_balancing=balancing)
    assert plan.config.setting_warnings == ()
    assert plan.transport.int_path


@pytest.mark.parametrize("balancing", ["ecmp", "plb"])
def test_load_balancings_that_keep_the_order_suit_go_back_n(balancing: str) -> None:
    assert plan_incast("gbn", load_balancing=balancing).config.setting_warnings == ()


def test_load_balancing_of_hosts_is_warned_of_if_it_is_only_a_setting() -> None:
    first, second = plan_incast("irn+hpcc", "transport.load_balancing=reps").config.setting_warnings
    assert first.startswith("transport.load_balancing=reps: packets of a flow overtake one another")
    assert "Use transport.int_path=true" in second


def test_ecmp_changes_no_setting_of_the_transport() -> None:
    assert plan_incast("irn+hpcc", load_balancing="ecmp").transport == plan_incast("irn+hpcc").transport


def test_spraying_over_a_single_path_is_no_spraying() -> None:
    assert plan_incast("irn+hpcc", "switch.load_balancing=spray", "topology.spines=1").config.setting_warnings == ()


def test_a_fault_that_reorders_is_warned_of() -> None:
    [warning] = plan_incast("irn+hpcc", faults=("reorder:tor2-spine1,rate=1%",)).config.setting_warnings
    assert warning.startswith("fault reorder:tor2-spine1") and "loss recovery irn" in warning
    assert plan_incast("irn", faults=("loss:tor2-spine1,rate=1%",)).config.setting_warnings == ()


def test_algorithms_declare_what_they_tolerate() -> None:
    """The warnings do not name schemes: a new loss recovery or congestion control declares it in its class."""
    assert {name for name, recovery in LOSS_RECOVERIES.items() if recovery.tolerates_reordering} == {"ndp"}
    needing = {name for name, control in CONGESTION_CONTROLS.items() if control.needs_one_path}
    assert needing == {name for name, control in CONGESTION_CONTROLS.items() if control.wants_telemetry}
