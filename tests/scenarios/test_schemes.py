# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Schemes resolve by name and suffix, and their settings are real settings."""

from __future__ import annotations

import pytest

from hosts.transport.congestion import CONGESTION_CONTROLS
from hosts.transport.flow_control import FLOW_CONTROLS
from hosts.transport.loss_recovery import LOSS_RECOVERIES
from scenarios.schemes import CONGESTION_SUFFIXES, SCHEMES, UnknownScheme, resolve_scheme
from topologies.settings import SwitchSettings

EVERY_SCHEME = [*SCHEMES, *(f"{name}+{suffix}" for name in SCHEMES for suffix in CONGESTION_SUFFIXES)]


@pytest.mark.parametrize("name", EVERY_SCHEME)
def test_scheme_names_rows_that_exist(name: str) -> None:
    """Every scheme's settings are accepted by switches and hosts."""
    scheme = resolve_scheme(name)
    SwitchSettings(**scheme.switch)
    assert scheme.transport["congestion"] in CONGESTION_CONTROLS
    assert scheme.transport.get("flow_control", "none") in FLOW_CONTROLS
    assert scheme.transport["loss_recovery"] in LOSS_RECOVERIES


@pytest.mark.parametrize("name", ["tcp", "sfc+swift", "", "+none"])
def test_unknown_names_list_the_known_ones(name: str) -> None:
    """The error helps."""
    with pytest.raises(UnknownScheme, match="there are"):
        resolve_scheme(name)
