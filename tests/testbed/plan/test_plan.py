# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Planning of requests: every invalid input is a one-line error, and nothing is started."""

from __future__ import annotations

from dataclasses import replace

import pytest

from testbed.errors import UsageError
from testbed.plan.plan import RunRequest, plan_run
from wire.constants import DSCP_DATA

VIRTUAL = RunRequest("incast", clock="virtual")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"scenario": "outcast"}, "no scenario 'outcast'; there are incast"),
        ({"scheme": "tcp"}, "no scheme 'tcp'; there are"),
        ({"scheme": "sfc+cubic"}, "no congestion control 'cubic'"),
        ({"topology": "torus"}, "no topology 'torus'; there are clos"),
        ({"switch": "asic"}, "no switch 'asic'"),
        ({"scale": "huge"}, "no scale 'huge'; there are ci, laptop, paper"),
        ({"seed": -1}, "--seed"),
        ({"duration_ms": 0.0}, "--duration"),
        ({"duration_ms": -3.0}, "--duration"),
        ({"duration_ms": float("nan")}, "--duration"),
        ({"settings": ("degree=4000",)}, "degree 4000 is above the 8 hosts"),
        ({"settings": ("degree=0",)}, "degree"),
        ({"settings": ("message_bytes=-5",)}, "message_bytes"),
        ({"settings": ("message_bytes=1e30",)}, "message_bytes"),
        ({"settings": ("window_us=lots",)}, "window_us"),
        ({"settings": ("receiver=h99",)}, "no host 'h99'"),
        ({"settings": ("degree",)}, "not of the form key=value"),
        ({"settings": ("=4",)}, "not of the form key=value"),
        ({"settings": ("colour=red",)}, "colour: there is no such setting"),
        ({"settings": ("engine.colour=red",)}, "a key is NAME or one of"),
        ({"settings": ("switch.colour=red",)}, "switch: colour: there is no such setting"),
        ({"settings": ("switch.buffer_bytes=-1",)}, "switch: buffer_bytes"),
        ({"settings": ("switch.q_tg_bytes=250000",)}, "must be below q_th_bytes"),
        ({"settings": ("topology.tors=0",)}, "topology clos: tors"),
        ({"settings": ("topology.hosts_per_tor=400", "topology.spines=300")}, "ports"),
        ({"settings": ("transport.payload_bytes=0",)}, "payload_bytes"),
        ({"settings": ("transport.colour=red",)}, "there is no setting colour"),
        ({"settings": ("transport.congestion=swift",)}, "swift"),
        ({"settings": ('transport.congestion_parameters={"x": 1}',)}, "unknown parameter x"),
    ],
)
def test_bad_input_is_one_clear_line(change: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        plan_run(replace(VIRTUAL, **change))  # type: ignore[arg-type]
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_settings_apply_to_workload_network_switches_and_hosts() -> None:
    settings = (
        "degree=3",
        "topology.hosts_per_tor=5",
        "switch.q_th_bytes=300000",
        "transport.payload_bytes=4000",
    )
    plan = plan_run(replace(VIRTUAL, settings=settings))
    assert len(plan.flows) == 3
    assert len(plan.topology.hosts) == 10
    assert plan.switch_settings.q_th_bytes == 300_000
    assert plan.transport.payload_bytes == 4000


def test_the_scheme_determines_settings_of_switches_and_hosts() -> None:
    sfc, gbn = (plan_run(replace(VIRTUAL, scheme=scheme)) for scheme in ("sfc", "gbn"))
    assert (sfc.switch_settings.bts, sfc.switch_settings.pause_cache, sfc.transport.flow_control) == (
        "ingress",
        True,
        "sfc",
    )
    assert (gbn.switch_settings.bts, gbn.transport.flow_control) == ("off", "none")


def test_all_schemes_get_the_same_flows() -> None:
    first, *others = (plan_run(replace(VIRTUAL, scheme=scheme)).flows for scheme in ("sfc", "irn", "gbn"))
    assert all(flows == first for flows in others)


def test_config_repeats_the_run() -> None:
    config = plan_run(replace(VIRTUAL, seed=7, settings=("degree=2",))).config
    assert "--seed 7" in config.command
    assert "--dilation 1000" in config.command
    assert "--set degree=2" in config.command


def test_the_command_has_captures_and_background() -> None:
    command = plan_run(RunRequest("incast", captures=("h1", "h16"), background="iperf3")).config.command
    assert "--pcap h1,h16" in command
    assert "--background iperf3" in command


def test_hosts_in_containers_are_repeated_and_share_the_data_class() -> None:
    plan = plan_run(RunRequest("incast", hosts="docker:an/image:1"))
    assert plan.has_programs
    assert plan.transport.program_dscp == DSCP_DATA
    assert "--hosts docker:an/image:1" in plan.config.command
    assert not plan_run(RunRequest("incast")).has_programs


@pytest.mark.parametrize(("payload_bytes", "mtu_bytes"), [(100, 1500), (1000, 1500), (4000, 4132), (9216, 9348)])
def test_interfaces_have_room_for_the_largest_frame(payload_bytes: int, mtu_bytes: int) -> None:
    """The headers are IP, UDP, BTH, immediate data, ICRC and records of five switches: 20 + 8 + 12 + 4 + 4 + 84 B."""
    for scheme in ("gbn", "sfc+hpcc", "onramp+hpcc"):
        plan = plan_run(replace(VIRTUAL, scheme=scheme, settings=(f"transport.payload_bytes={payload_bytes}",)))
        assert plan.mtu_bytes == mtu_bytes
