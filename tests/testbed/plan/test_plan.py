# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Planning of requests: settings, captured ports, and one-line errors, also for ratios beyond the data plane."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.captured_ports import named_ports
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.topologies.model import Port
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.constants import DSCP_DATA
from tests.testbed.incasts import plan_incast

VIRTUAL = RunSpec("incast", clock="virtual")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scenario": "outcast"}, "unknown scenario 'outcast'; choose from incast"),
        ({"scheme": "tcp"}, "unknown scheme 'tcp'; choose from"),
        ({"topology": "torus"}, "unknown topology 'torus'; choose from clos"),
        ({"switch": "asic"}, "unknown switch 'asic'"),
        ({"scale": "huge"}, "no scale 'huge'; choose from ci, laptop, paper"),
        ({"seed": -1}, "--seed"),
        ({"duration_ms": 0.0}, "--duration"),
        ({"duration_ms": float("nan")}, "--duration"),
        ({"settings": ("degree=4000",)}, "with placement 'remote'; use another --topology"),
        ({"settings": ("degree=9",)}, "with placement 'remote'; use --set topology.hosts_per_tor=9, or another"),
        ({"settings": ("degree=16", "placement=spread")}, "use --set topology.hosts_per_tor=9, or another"),
        ({"topology": "star", "settings": ("degree=9",)}, "use --set topology.hosts=10, or another"),
        (
            {"topology": "dumbbell", "settings": ("degree=2", "placement=local")},
            "use --set topology.right_hosts=3, or another",
        ),
        ({"settings": ("degree=4", "workload.degree=5")}, "--set workload.degree: workload.degree is given twice"),
        ({"settings": ("topology.host_rates_bps=100G,25KB",)}, "must be a rate such as 400G or 25Gbps, not '25KB'"),
        ({"settings": ("message_bytes=1e30",)}, "message_bytes"),
        ({"settings": ("window_us=lots",)}, "window_us"),
        ({"settings": ("receiver=h99",)}, "(h1 to h16); use --set topology.hosts_per_tor=50, or another"),
        ({"settings": ("degree",)}, "not of the form key=value"),
        ({"settings": ("colour=red",)}, "colour: there is no such setting"),
        ({"settings": ("engine.colour=red",)}, "a key is NAME or one of"),
        ({"settings": ("switch.colour=red",)}, "switch: colour: there is no such setting"),
        ({"settings": ("switch.buffer_bytes=-1",)}, "switch: buffer_bytes"),
        ({"settings": ("switch.q_tg_bytes=250000",)}, "must be below q_th_bytes"),
        ({"settings": ("transport.base_rtt_ns=0",)}, "transport: base_rtt_ns: must be at least 1 ns, not 0"),
        ({"settings": ("transport.base_rtt_ns=soon",)}, "transport: base_rtt_ns: must be a whole number"),
        ({"settings": ("switch.q_th_bdp=many",)}, "switch: q_th_bdp: must be a number of at least 0, not 'many'"),
        ({"settings": ("switch.colour_bdp=2",)}, "switch: colour_bdp: there is no such setting"),
        ({"settings": ("switch.q_th_bdp=1",)}, "must be below q_th_bdp"),
        ({"settings": ("transport.rto_rtt=0",)}, "rto_rtt: must be at least 1 ns, not 0 (rto_rtt=0 is 0 ns)"),
        ({"settings": ("switch.q_th_bdp=2", "switch.q_th_bytes=250000")}, "set the same quantity"),
        ({"settings": ("topology.hosts_per_tor=400", "topology.spines=300")}, "ports"),
        ({"settings": ("transport.payload_bytes=0",)}, "payload_bytes"),
        ({"settings": ("transport.colour=red",)}, "there is no setting colour"),
        ({"settings": ("transport.congestion=homa",)}, "homa"),
        ({"settings": ('transport.congestion_parameters={"x": 1}',)}, "unknown parameter x"),
    ],
)
def test_bad_input_is_one_clear_line(change: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        plan_run(replace(VIRTUAL, **{**change, "settings": parse_settings(change.get("settings", ()))}))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("text", ["100G,25G", "[100G, 25G]", '["100G", 25000000000]'])
def test_a_list_may_have_units(text: str) -> None:
    assert parse_settings([f"topology.host_rates_bps={text}"]) == {"topology.host_rates_bps": [10**11, 25 * 10**9]}


@pytest.mark.parametrize(
    ("scheme", "words", "overridden"),
    [
        ("irn", ["transport.congestion=swift"], ("transport.congestion=swift",)),
        ("irn", ["transport.congestion=window"], ()),
        ("sfc", ["switch.bts=off", "switch.q_th_bytes=300KB"], ("switch.bts=off",)),
        ("irn", ["switch.load_balancing=spray", "switch.pfc=false"], ("switch.load_balancing=spray",)),
    ],
)
def test_settings_that_contradict_the_scheme_are_named(
    scheme: str, words: list[str], overridden: tuple[str, ...]
) -> None:
    config = plan_run(replace(VIRTUAL, scheme=scheme, settings=parse_settings(words))).config
    assert config.overridden == overridden


def test_the_command_has_all_digits_of_the_duration() -> None:
    assert "--duration 1234.567 " in plan_run(replace(VIRTUAL, duration_ms=1234.567)).config.command + " "


def test_all_schemes_get_the_same_flows() -> None:
    first, *others = (plan_run(replace(VIRTUAL, scheme=scheme)).flows for scheme in ("sfc", "irn", "gbn"))
    assert all(flows == first for flows in others)


def test_the_command_in_config_repeats_the_run() -> None:
    spec = replace(VIRTUAL, seed=7, settings={"degree": 2}, captures=("h1", "h16"))
    command = plan_run(spec).config.command
    for option in ("--seed 7", "--dilation 1000", "--set degree=2", "--pcap h1,h16"):
        assert option in command
    assert "--background iperf3" in plan_run(RunSpec("incast", background="iperf3")).config.command


def test_hosts_in_containers_are_repeated_and_share_the_data_class() -> None:
    plan = plan_run(RunSpec("incast", hosts="docker:an/image:1"))
    assert plan.has_programs
    assert plan.transport.program_dscp == DSCP_DATA
    assert "--hosts docker:an/image:1" in plan.config.command
    assert not plan_run(RunSpec("incast")).has_programs


@pytest.mark.parametrize(("payload_bytes", "mtu_bytes"), [(100, 1500), (1000, 1500), (4000, 4132), (9216, 9348)])
def test_interfaces_have_room_for_the_largest_frame(payload_bytes: int, mtu_bytes: int) -> None:
    """The headers are IP, UDP, BTH, immediate data, ICRC and records of five switches: 20 + 8 + 12 + 4 + 4 + 84 B."""
    for scheme in ("gbn", "sfc+hpcc", "onramp+hpcc"):
        assert plan_incast(scheme, f"transport.payload_bytes={payload_bytes}").mtu_bytes == mtu_bytes


@pytest.mark.parametrize(
    ("scheme", "dilation", "settings", "problem", "fits"),
    [
        ("sfc-est", 10_000_000, (), "too long for the data plane", "less"),
        ("irn+hpcc", 10_000_000, (), "too slow for telemetry", "less"),
        ("sfc-est", 1, ("switch.estimator_tau_ns=5",), "too short for the estimator", "more"),
        ("sfc-est", 1_000_000, (), "estimator_tau_ns 10000 is too long", "less"),
        ("sfc", 10_000_000, (), "the time of a byte of a link of 100000000000 bit/s is too long", "less"),
        (
            "pfc",
            10_000_000,
            ("topology.host_rate_bps=1000000000", "topology.fabric_rate_bps=1000000000"),
            "a pause of 65535 quanta of a link of",
            "less",
        ),
    ],
)
def test_the_nearest_dilation_that_fits_is_named(
    scheme: str, dilation: int, settings: tuple[str, ...], problem: str, fits: str
) -> None:
    with pytest.raises(UsageError, match=problem) as refused:
        plan_incast(scheme, *settings, dilation=dilation)
    match = re.search(r"at dilation (\d+); use --dilation (\d+) or (less|more)$", str(refused.value))
    assert match is not None, str(refused.value)
    assert (int(match[1]), match[3]) == (dilation, fits)
    assert plan_incast(scheme, *settings, dilation=int(match[2])).dilation.factor == int(match[2])


def test_a_ratio_that_fits_no_dilation_is_refused_without_advice() -> None:
    rates = ",".join(["10000000", *["25600000000000"] * 8])
    settings = (f"topology.host_rates_bps=[{rates}]", "topology.hosts=9", "switch.pfc_alpha=64")
    with pytest.raises(UsageError, match=r"pfc_alpha 64 .* is too much for one of \d+ bit/s, at any --dilation$"):
        plan_incast("pfc", *settings, dilation=1_000, topology="star")


NETWORK = shape("clos", {"hosts_per_tor": 2}).build()


def test_hosts_switches_and_ports() -> None:
    assert named_ports(["h2", "tor1:1", "tor2:spine2"], NETWORK) == (
        Port("h2", 0),
        Port("tor1", 1),
        Port("tor2", next(port.number for port in NETWORK.ports["tor2"] if port.peer.node == "spine2")),
    )
    assert named_ports(["spine1"], NETWORK) == tuple(Port("spine1", port.number) for port in NETWORK.ports["spine1"])
    assert named_ports([], NETWORK) == ()


def test_a_flow_without_places_is_captured_on_its_shortest_paths() -> None:
    plan = plan_incast("sfc", "degree=2", "topology.hosts_per_tor=2", captures=("flow:2",))
    flow = plan.flows[1]
    [entry], [way_out] = (
        [port.number for ports in NETWORK.ports.values() for port in ports if port.peer.node == name]
        for name in (flow.src, flow.dst)
    )
    between = {Port(switch, port.number) for switch, ports in NETWORK.ports.items() for port in ports}
    between -= {Port(switch, number) for switch in ("tor1", "tor2") for number in (1, 2)}
    ends = {Port(flow.src, 0), Port("tor1", entry), Port("tor2", way_out), Port(flow.dst, 0)}
    assert set(plan.captured) == between | ends
    assert len(plan.captured) == len(between | ends)
    placed = plan_incast("sfc", "degree=2", "topology.hosts_per_tor=2", captures=("flow:2", "h1", "flow:1"))
    assert placed.captured == (Port("h1", 0),)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["flow:3"], "no flow '3' in this run, which has flows 1 to 2"),
        (["flow:0"], "no flow '0' in this run"),
        (["h1", "flow:"], "no flow '' in this run"),
        (["flow:-1"], "no flow '-1' in this run"),
        (["flow:h1"], "no flow 'h1' in this run"),
        (["flow:1", "h1", "flow:1"], "flow:1 is named twice"),
        (["h1", "h1"], "h1 is named twice"),
        (["tor1", "tor1:1"], "tor1:1 is named twice"),
        (["h9"], "no host or switch 'h9' in this network (hosts h1 to h4, switches tor1, tor2, spine1, spine2)"),
        (["tor1:9"], "unknown or ambiguous port '9' of tor1; choose from 1 (h1), 2 (h2), 3 (spine1), 4 (spine2)"),
        (["tor1:"], "unknown or ambiguous port '' of tor1"),
        (["h1:0"], "'h1:0': a host has only one port; use the name of the host alone"),
        (["spin1"], "nearest: spine1"),
    ],
)
def test_captures_that_do_not_exist_are_refused(words: list[str], expected: str) -> None:
    with pytest.raises(UsageError) as refused:
        plan_incast("sfc", "degree=2", "topology.hosts_per_tor=2", captures=tuple(words))
    assert str(refused.value).startswith("--pcap: ")
    assert expected in str(refused.value)


@pytest.mark.parametrize("scheme", ["irn", "sfc"])
def test_how_files_of_other_programs_were_read_is_a_warning(scheme: str, tmp_path: Path) -> None:
    flows, sizes = tmp_path / "flow.txt", tmp_path / "cdf.txt"
    flows.write_text("1\n0 1 3 100 10000 2\n1 2 3 100 10000 2\n")
    sizes.write_text("0 0\n1000 1\n")
    [of_flows] = plan_run(RunSpec("flows", scheme, clock="virtual", flow_file=flows)).config.setting_warnings
    assert of_flows.startswith(f"{flows}: line 1 announces 1 flows; 1 more line is ignored; 2 s in the file")
    settings = parse_settings((f"sizes={sizes}", "arrivals_us=1"))
    [of_sizes] = plan_run(RunSpec("datacentre", scheme, clock="virtual", settings=settings)).config.setting_warnings
    assert of_sizes.startswith(f"Sizes {sizes}: the shares end at 1 and are read as fractions")


def test_a_float_that_is_nearly_whole_is_not_rounded() -> None:
    assert parse_settings(("message_bytes=4.096e3",)) == {"message_bytes": 4096}
    assert parse_settings(("message_bytes=4 KB",)) == {"message_bytes": 4000}
    for text in ("4.0959999999999999999999e3", "4095.999", "4095.999B", "4.0955KB"):
        with pytest.raises(UsageError, match="message_bytes: must be a whole number"):
            plan_run(RunSpec("incast", clock="virtual", settings=parse_settings((f"message_bytes={text}",))))
