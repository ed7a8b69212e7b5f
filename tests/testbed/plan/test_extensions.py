# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Errors in what a user's workload or topology returns are one line that names the flow, or the file and the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.request.extensions import use
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.stored_flows import stored_topology
from tests.extended import nothing_remains, write_extension
from tests.testbed.incasts import plan_incast, plan_virtual

pytestmark = pytest.mark.usefixtures("no_extensions")

WORKLOAD = """\
import sfc_testbed as sfc

@sfc.scenario("own")
class Own(sfc.Workload):
    "One flow."

    def flows(self, topology, random):
        return {}
"""
TOPOLOGY = """\
import sfc_testbed as sfc

@sfc.topology("own")
class Own(sfc.Shape):
    "A network."

    def build(self):
        return {}
"""


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ('[sfc.FlowRequest("h1", "h99", 5, 0, "a")]', "flow 1: no host 'h99' in this network"),
        ('[sfc.FlowRequest("h1", "h1", 5, 0, "a")]', "flow 1: not a flow: h1 to h1"),
        ('[sfc.FlowRequest("h1", "h2", 100.5, 0, "a")]', "flow 1: size_bytes: must be a whole number, not 100.5"),
        ('[sfc.FlowRequest("h1", "h2", 5, -5, "a")]', "flow 1: start_ns: must be at least 0 ns, not -5"),
        ('[("h1", "h2")]', r"flow 1 is .*, not a FlowRequest"),
        ("None", "scenario own: TypeError: 'NoneType' object is not iterable"),
        ("[1 / 0]", r"scenario own: ZeroDivisionError: division by zero \(.*mine.py:8\)"),
    ],
)
def test_flows_are_checked(returned: str, message: str, tmp_path: Path) -> None:
    use(write_extension(tmp_path, WORKLOAD.format(returned)))
    with pytest.raises(UsageError, match=message):
        plan_virtual("own")


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ("None", r"topology own: build\(\) returned NoneType, not a Topology"),
        ("1 / 0", r"topology own: ZeroDivisionError: division by zero \(.*mine.py:8\)"),
    ],
)
def test_topologies_are_checked(returned: str, message: str, tmp_path: Path) -> None:
    use(write_extension(tmp_path, TOPOLOGY.format(returned)))
    with pytest.raises(UsageError, match=message):
        plan_incast(topology="own")


def test_a_stored_run_names_the_file_of_its_topology(tmp_path: Path) -> None:
    path = write_extension(tmp_path)
    with nothing_remains():
        use(path)
        config = plan_virtual("rounds", "irn").config
    with pytest.raises(
        UsageError, match=f"there is no topology 'line'; an extension may have added it: add --use {path}"
    ):
        stored_topology(config)
