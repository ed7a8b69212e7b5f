# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Each benchmark runs and returns correct figures. Speed itself is not tested here."""

from __future__ import annotations

import json
import os
import signal
from math import isfinite
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

from bench.__main__ import main
from bench.benchmarks import control, growth_flows
from bench.benchmarks.bookkeeping import BookkeepingBenchmark, Costs
from bench.benchmarks.control import ControlBenchmark
from bench.benchmarks.fabric import FabricBenchmark
from bench.benchmarks.flood import FloodBenchmark, flood_figures
from bench.benchmarks.growth import GrowthBenchmark
from bench.benchmarks.growth_flows import GrowthFlowsBenchmark
from bench.benchmarks.loop import LoopBenchmark, Pace
from bench.benchmarks.nic import NicBenchmark
from bench.benchmarks.pipeline import PipelineBenchmark
from bench.benchmarks.simulation import SimulationBenchmark
from bench.benchmarks.size import SizeBenchmark
from bench.benchmarks.wire import ARRIVAL, WireBenchmark, wire_figures
from bench.catalogue import BENCHMARKS
from bench.instruments import native
from bench.instruments import simulated as instrument
from bench.instruments.benchmark import Figure, Skipped, Target
from bench.instruments.native import answer, running, tool
from bench.instruments.network import veth_pairs
from bench.instruments.workload import data_frames, rack, write_frames
from bench.report import Report, as_json, target_text, value_text
from sfc_testbed.place import ROOT

RATE_BPS = 50_000_000


def test_figure_reports_whether_it_reached_its_target() -> None:
    assert Figure("a", 0.6, target=Target(0.6, "at least")).is_reached is True
    assert Figure("a", 0.59, target=Target(0.6, "at least")).is_reached is False
    assert Figure("a", 61, target=Target(60, "at most")).is_reached is False
    assert Figure("a", 1).is_reached is None


def test_text_and_json_report_a_missed_target() -> None:
    missed = Figure("ratio", 4.2, target=Target(10, "at least"))
    assert "missed" in target_text(missed)
    assert value_text(Figure("rate", 123456.7, "packets/s")) == "123,457 packets/s"
    report = json.loads(as_json([Report("switch", [missed])], {}))
    assert report["benchmarks"]["switch"]["figures"][0]["reached"] is False


def test_networks_of_each_size_are_measured() -> None:
    """The cost of a further packet is a difference of two CPU times, which a busy machine can turn round."""
    *figures, growth = SizeBenchmark(hosts=(128, 256), message_bytes=16_000).run()
    few, many = ([figure for figure in figures if f" {hosts} hosts" in figure.name] for hosts in (128, 256))
    assert [figure.unit for figure in (few[0], few[1])] == ["s", "GB"]
    assert few[0].note == "2,048 data packets" and many[0].note == "4,096 data packets"
    assert 0.05 < few[1].value < 4
    assert isfinite(growth.value)


def test_unknown_benchmark_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The message lists the available benchmarks."""
    assert main(["nothing"]) == 2
    assert ", ".join(BENCHMARKS) in capsys.readouterr().err


def test_command_prints_json_and_nothing_else(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables go to stderr, and a skipped benchmark has a reason."""

    class Refuses(NicBenchmark):
        def run(self) -> list[Figure]:
            raise Skipped("no reason")

    monkeypatch.setitem(BENCHMARKS, "nic", Refuses)
    assert main(["nic", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["benchmarks"]["nic"]["skipped"] == "no reason"


def test_machine_load_is_read_before_the_benchmarks(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The load of a benchmark itself is not other work."""
    loads = [0.0]

    class Loads(NicBenchmark):
        def run(self) -> list[Figure]:
            loads[0] = 9.0
            raise Skipped("no reason")

    monkeypatch.setitem(BENCHMARKS, "nic", Loads)
    monkeypatch.setattr(os, "getloadavg", lambda: loads)
    assert main(["nic", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["machine"]["load_1min"] == 0


def test_tool_is_compiled_again_when_an_included_header_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(native, "_PROGRAMS", tmp_path)
    source = r'int main(void) { return printf("{\"number\": %d}", NUMBER) < 0; }'
    (tmp_path / "program.c").write_text(f'#include "number.h"\n#include <stdio.h>\n{source}\n')
    for number in (1, 2):
        (tmp_path / "number.h").write_text(f"#define NUMBER {number}\n")
        assert answer([tool("program")]) == {"number": number}


def test_nic_benchmark_moves_every_frame() -> None:
    """Each of the three numbers of queue pairs has two figures."""
    assert len(NicBenchmark(frames=1000).run()) == 6


def test_pipeline_benchmark_carries_every_packet() -> None:
    """A packet that does not come out of the C program raises an error."""
    assert all(figure.value > 0 for figure in PipelineBenchmark(packets=500).run())


@pytest.mark.parametrize(("is_interrupted", "error"), [(True, KeyboardInterrupt), (False, RuntimeError)])
def test_interrupted_or_incomplete_run_raises_an_error(
    is_interrupted: bool, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run may end early after Ctrl-C, which it handles as a request, or while flows are unfinished."""

    def end_early(*_: object) -> mock.Mock:
        if is_interrupted:
            signal.raise_signal(signal.SIGINT)
        return mock.Mock()

    monkeypatch.setattr(instrument, "simulate", end_early)
    with pytest.raises(error):
        instrument.simulated(instrument.incast_request("degree=2"))


def test_shares_of_the_simulation_benchmark_sum_to_100_percent() -> None:
    _, _, switches, hosts = SimulationBenchmark("ci").run()
    assert switches.value + hosts.value == pytest.approx(100)
    assert 0 < switches.value < 100


def test_fabric_benchmark_replays_what_hosts_sent() -> None:
    """Two recordings of the same run give the same frames and the same digest of departures."""
    runs = [FabricBenchmark(("topology.tors=2", "degree=2", "message_bytes=9000"), rounds=1).run() for _ in range(2)]
    assert runs[0][0].note == runs[1][0].note
    frames = 2 * 9 + 2 * 9
    assert runs[0][0].note.startswith(f"{frames} frames from hosts, {frames} to hosts")


def test_growth_benchmark_has_an_exponent_per_axis() -> None:
    figures = GrowthBenchmark(hosts=(48, 64), message_bytes=(1000, 4000), degrees=(2, 4), rounds=1).run()
    assert [f.name for f in figures if f.name.endswith("exponent")] == [
        "hosts: exponent",
        "packets: exponent",
        "degree: exponent",
    ]


def _arrivals(gaps_ns: list[int], lengths: list[int]) -> np.ndarray:
    arrivals = np.zeros(len(lengths), ARRIVAL)
    arrivals["time_ns"] = np.cumsum([0, *gaps_ns])
    arrivals["length"] = lengths
    return arrivals


def test_wire_figures_of_an_ideal_wire_are_exact() -> None:
    """Frames that end exactly one transmission time apart have the configured rate."""
    lengths = [64, 1500] * 1000
    figures = {f.name: f for f in wire_figures(_arrivals([n * 160 for n in lengths[1:]], lengths), 2000, RATE_BPS)}
    assert figures["achieved"].value == pytest.approx(50)
    assert figures["error of gaps, p99"].value == pytest.approx(0)
    assert all(figure.is_reached is not False for figure in figures.values())


def test_wire_figures_show_a_wire_that_is_too_fast() -> None:
    """A rate 2 % too high misses the two targets for rates, and a missing frame misses the target for loss."""
    lengths = [1000] * 2000
    figures = wire_figures(_arrivals([int(n * 160 / 1.02) for n in lengths[1:]], lengths), 2001, RATE_BPS)
    assert sum(figure.is_reached is False for figure in figures) == 3


@pytest.mark.root
def test_wire_benchmark_loses_no_frame_on_a_live_softswitch() -> None:
    figures = {figure.name: figure for figure in WireBenchmark(seconds=0.2).run()}
    assert figures["frames lost"].value == 0


def test_flood_figures_report_each_case_and_lost_frames() -> None:
    """A lost frame has waited for ever, so it raises the tail but has no finite wait."""
    waits_us = {None: np.array([20.0, 30.0, 40.0]), 0: np.array([200.0, 300.0, np.inf])}
    figures = {figure.name: figure for figure in flood_figures(waits_us)}
    assert figures["wait p50, no flood"].value == 30
    assert figures["wait p50, flood without limit"].value == 300
    assert figures["wait p99, flood without limit"].note == "1 of 3 frames lost"


@pytest.mark.root
def test_flood_benchmark_loses_no_frame_of_the_idle_pair() -> None:
    figures = FloodBenchmark(probes=5, rounds=1, rates_pps=(None, 0)).run()
    assert len(figures) == 4
    assert all(figure.value > 0 and not figure.note for figure in figures)


@pytest.mark.root
def test_loop_benchmark_carries_every_message() -> None:
    """The benchmark ends only when the last message is acknowledged."""
    (figure,) = LoopBenchmark((Pace("few", pairs=2, dilation=2_000, packets=20),)).run()
    assert figure.value > 0


@pytest.mark.root
def test_forwarder_carries_every_frame_of_the_generator(tmp_path: Path) -> None:
    frames = write_frames(tmp_path / "frames", data_frames(rack(), [64, 1058, 1500]))
    with veth_pairs((("source0", "in0"), ("out0", "sink0"))), running([tool("forwarder"), "in0", "out0"]):
        result = answer([tool("traffic"), "send", "source0", "sink0", frames, "5000", "500"])
    assert result["received"] == result["sent"] == 500


def test_bookkeeping_reports_each_stage_and_the_total() -> None:
    """A run with fewer flows than the target is for has no target."""
    *stages, together, grown, most = BookkeepingBenchmark(flows=300).run()
    assert [figure.name for figure in stages][:1] == ["planning"]
    assert [figure.name for figure in stages][-2:] == ["result", "report"]
    assert together.value == pytest.approx(sum(figure.value for figure in stages))
    assert together.target is None
    assert 0 <= grown.value < most.value


def test_growth_has_an_exponent_for_each_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exponent comes from the two largest flow counts; its note lists the seconds of every count."""

    def measurement(flows: int) -> Costs:
        return Costs(flows, {"planning": 1 + 1e-4 * flows, "report": 2.0}, recording_bytes=flows)

    monkeypatch.setattr(growth_flows, "measure", measurement)
    figures = {figure.name: figure for figure in GrowthFlowsBenchmark(counts=(10, 10**7, 10**8)).run()}
    assert figures["exponent of planning"].value == pytest.approx(1, abs=0.001)
    assert figures["exponent of report"].value == pytest.approx(0, abs=1e-9)
    assert figures["exponent of report"].note == "2, 2, 2 s"
    assert figures["grown while recording"].value == 100


def test_control_fills_the_table_and_counts_packets_to_the_controller(monkeypatch: pytest.MonkeyPatch) -> None:
    """BMv2 is left out, which tests must not need."""
    for name, value in {"_ENTRIES": 20, "_BATCH": 8, "_FRAMES": 10}.items():
        monkeypatch.setattr(control, name, value)
    monkeypatch.setattr(control, "simple_switch_on_path", lambda: None)
    figures = {figure.name: figure for figure in ControlBenchmark().run()}
    assert set(figures) == {
        *("P4Runtime, one at a time", "P4Runtime, 1,000 in a batch", "Thrift, one at a time"),
        "to a controller",
    }
    assert all(figure.value > 0 for figure in figures.values())
    assert figures["to a controller"].note == "10 of 10 arrived"


def test_control_measures_bmv2_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """softswitch's server stands in for BMv2's, whose options it takes."""
    for name, value in {"_ENTRIES": 20, "_BATCH": 8, "_FRAMES": 50}.items():
        monkeypatch.setattr(control, name, value)
    monkeypatch.setattr(control, "_bmv2_server", lambda: ROOT / "softswitch" / "simple_switch_grpc")
    figures = {figure.name: figure for figure in ControlBenchmark().run()}
    ours = {name for name, figure in figures.items() if figure.unit and not name.startswith("BMv2: ")}
    theirs = {name.removeprefix("BMv2: ") for name in figures if name.startswith("BMv2: ")}
    assert ours - theirs <= {"to a controller"}  # needs root
    for name in theirs:
        ratio = figures[f"{name}: softswitch / BMv2"]
        assert ratio.value == figures[name].value / figures[f"BMv2: {name}"].value
