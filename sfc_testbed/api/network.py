# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A live network for a script or a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from sfc_testbed.api.caller import only_live_network, unchanged_process
from sfc_testbed.api.errors import public_errors
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.execution.limits import check_switch_limits
from sfc_testbed.testbed.execution.programs import build_programs
from sfc_testbed.testbed.plan.plan import plan_network
from sfc_testbed.testbed.targets import capabilities

if TYPE_CHECKING:
    from sfc_testbed.testbed.live.session.session import LiveSession


@contextmanager
def live_session(request: RunSpec) -> Iterator[LiveSession]:
    """Provide the network of a request, and remove it at the end. UsageError if this machine or user cannot run it."""
    with public_errors(), only_live_network():
        plan = plan_network(request)
        check_switch_limits(plan)
        capabilities.require("real", plan.config.switch, plan.mtu_bytes, request.hosts, has_virtual=False)
        build_programs([plan])
        from sfc_testbed.testbed.live.session.session import open_session  # loads Mininet, which is there now

        with unchanged_process(), open_session(request) as session:
            yield session
