# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Load balancing by hosts in virtual runs: paths, retransmissions, telemetry of several paths, failures and signals.

Four hosts of a rack send to four of the other rack, over four uplinks of the hosts' rate. Under ECMP some flows share
an uplink.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.analysis.results.result import RunResult
from sfc_testbed.request.extensions import use
from sfc_testbed.testbed.errors import UsageError
from tests.extended import nothing_remains
from tests.testbed.incasts import plan_virtual, run_incast, run_plan, write_flows

NETWORK = ("topology.spines=4", "topology.hosts_per_tor=4", "topology.fabric_rate_bps=100000000000")
SPRAYED = "switch.load_balancing=spray"


@pytest.fixture(scope="module")
def flow_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [f"h{number},h{number + 4},400000,0,data" for number in range(1, 5)]
    return write_flows(tmp_path_factory.mktemp("flows") / "four.csv", *rows)


def run(
    flow_file: Path, folder: Path, scheme: str, balancing: str | None, *settings: str, fault: str = ""
) -> RunResult:
    faults = (fault,) if fault else ()
    plan = plan_virtual(
        "flows", scheme, *NETWORK, *settings, topology="clos", flow_file=flow_file, load_balancing=balancing,
        faults=faults, duration_ms=20,
    )  # fmt: skip
    result = run_plan(plan, folder).result
    assert result.flows.completed == result.flows.total == 4
    assert result.flows.corrupted == 0
    assert result.unexplained_loss == 0
    return result


def slowest(result: RunResult) -> float:
    [figures] = result.fct_slowdown.values()
    assert figures.max is not None
    return figures.max


@pytest.mark.parametrize("balancing", ["oblivious", "reps", "spray"])
def test_packets_use_all_uplinks_and_none_is_sent_again(flow_file: Path, tmp_path: Path, balancing: str) -> None:
    ecmp = run(flow_file, tmp_path / "ecmp", "irn", "ecmp")
    sprayed = run(flow_file, tmp_path / "sprayed", "irn", balancing)
    assert ecmp.flows.packets_resent == sprayed.flows.packets_resent == 0
    assert slowest(sprayed) < 1.3 < 1.6 < slowest(ecmp)


def test_without_a_tolerance_irn_sends_overtaken_packets_again(flow_file: Path, tmp_path: Path) -> None:
    assert (run(flow_file, tmp_path, "irn", None, SPRAYED).flows.packets_resent or 0) > 200


@pytest.mark.parametrize("control", ["hpcc", "powertcp"])
def test_telemetry_of_different_paths_is_kept_apart(flow_file: Path, tmp_path: Path, control: str) -> None:
    """If records of different links are compared, the control takes the differences for a huge load."""
    ecmp = run(flow_file, tmp_path / "ecmp", f"irn+{control}", "ecmp")
    sprayed = run(flow_file, tmp_path / "named", f"irn+{control}", "spray")
    mixed = run(flow_file, tmp_path / "mixed", f"irn+{control}", None, SPRAYED)
    assert slowest(sprayed) < slowest(ecmp) < slowest(mixed) / 5


def test_reps_avoids_a_dead_link_that_oblivious_spraying_keeps_using(flow_file: Path, tmp_path: Path) -> None:
    """No switch routes around the link."""
    fault = "link:tor1-spine1,down=10us,detect=20ms"
    reps = run(flow_file, tmp_path / "reps", "irn", "reps", fault=fault)
    oblivious = run(flow_file, tmp_path / "oblivious", "irn", "oblivious", fault=fault)
    assert slowest(reps) < slowest(oblivious) / 1.5
    assert reps.drops is not None
    assert oblivious.drops is not None
    assert sum(reps.drops.values()) < sum(oblivious.drops.values())


def _signals(folder: Path, balancing: str, *settings: str) -> int:
    counts = run_incast(folder, "sfc", "topology.spines=4", *settings, load_balancing=balancing).result.bts
    assert counts is not None
    return counts.sent


def test_sfc_sends_as_few_signals_for_many_ports_as_for_one(tmp_path: Path) -> None:
    """The key of the suppression filter is the queue pair. With the 5-tuple, every packet would get a BTS."""
    ecmp, oblivious, reps = (_signals(tmp_path / name, name) for name in ("ecmp", "oblivious", "reps"))
    by_tuple = _signals(tmp_path / "5-tuple", "reps", "switch.suppression_key=flow")
    assert max(oblivious, reps) <= 1.2 * ecmp
    assert by_tuple > 3 * ecmp


SECOND = '''
import sfc_testbed as sfc


@sfc.load_balancing("every-second")
class EverySecond(sfc.LoadBalancing):
    """A new entropy for every second packet."""

    reorders = True

    def entropy(self, index, in_flight, now_ns):
        return (self.first_entropy + index // 2) % 16384
'''


def test_an_extension_adds_a_load_balancing_of_hosts(flow_file: Path, tmp_path: Path) -> None:
    (tmp_path / "second.py").write_text(SECOND)
    with nothing_remains():
        use(tmp_path / "second.py")
        ecmp = run(flow_file, tmp_path / "ecmp", "irn", "ecmp")
        own = run(flow_file, tmp_path / "own", "irn+hpcc", "every-second")
        assert own.flows.packets_resent == 0
        assert slowest(own) < slowest(ecmp)


def test_a_load_balancing_of_hosts_that_is_no_class_of_hosts_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wrong.py").write_text(SECOND.replace("(sfc.LoadBalancing)", "(sfc.FlowControl)"))
    with nothing_remains(), pytest.raises(UsageError, match="'EverySecond' is not a subclass of LoadBalancing"):
        use(tmp_path / "wrong.py")
