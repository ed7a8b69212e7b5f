# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests with complete runs in virtual time over links that fail or are impaired: every packet is accounted for."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from sfc_testbed.analysis.results.result import counted
from sfc_testbed.testbed.errors import UsageError
from tests.testbed.incasts import assert_all_arrived, assert_same_run, plan_incast, run_incast, trace

ALL_IMPAIRMENTS = (
    "loss:all,rate=0.2%",
    "corrupt:all,rate=0.2%",
    "duplicate:all,rate=1%",
    "reorder:all,rate=0.2%,by=200ns",
    "jitter:all,max=200ns",
    "bts-loss:all,rate=50%",
    "link:tor2-spine1,down=60us,up=70us",
)


_UPLINK = "link:tor2-spine1,down=20us,up=100us"


@pytest.mark.parametrize(
    ("scheme", "fault"),
    [
        *((scheme, _UPLINK) for scheme in ("gbn", "irn", "pfc", "sfc", "sfc-p", "sfc+hpcc")),
        ("sfc", "link:h16-tor2,down=30us,up=80us"),
    ],
)
def test_an_incast_survives_a_dead_link(tmp_path: Path, scheme: str, fault: str) -> None:
    result = run_incast(tmp_path, scheme, faults=(fault,)).result
    assert_all_arrived(result)
    assert counted(result.drops)["link_down"] > 0


@pytest.mark.parametrize("scheme", ["irn", "sfc", "irn+hpcc", "ndp", "pfc", "bfc"])
def test_a_slow_link_of_the_receiver_is_the_bottleneck(tmp_path: Path, scheme: str) -> None:
    run = run_incast(tmp_path, scheme, faults=("link:h16-tor2,rate=25%",))
    last_us = max(trace(run, "flows")["fct_us"].to_list())
    assert_all_arrived(run.result)
    assert 2_000_000 * 8 / 25e3 < last_us < 1.3 * 2_000_000 * 8 / 25e3


def test_a_sender_with_a_slow_link_sends_at_its_rate_for_its_time(tmp_path: Path) -> None:
    """The NIC of h1 sends 250 KB at 25 Gb/s, or for 10 us in between. Its flow keeps the window of the full rate."""
    usual_us, start_us = _one_flow_us(tmp_path)
    begin_us = round(start_us) + 2
    slow_us, _ = _one_flow_us(tmp_path, "link:h1-tor1,rate=25%")
    between_us, _ = _one_flow_us(tmp_path, f"link:h1-tor1,rate=25%,from={begin_us}us,until={begin_us + 10}us")
    assert slow_us - usual_us == pytest.approx(3 * 250_000 * 1.058 * 8 / 100e3, rel=0.02)
    assert between_us - usual_us == pytest.approx(10 * 3 / 4, rel=0.02)


def _one_flow_us(folder: Path, *faults: str) -> tuple[float, float]:
    """Return the FCT and the start of a flow from h1."""
    run = run_incast(folder, "irn", "degree=1", faults=faults)
    [row] = trace(run, "flows").select("src", "fct_us", "start_us").rows()
    assert row[0] == "h1"
    return row[1], row[2]


def test_swift_recovers_from_a_lost_window(tmp_path: Path) -> None:
    """Losses leave a hundredth of a packet. The acknowledgement of a resent packet must raise the window again."""
    run = run_incast(tmp_path, "irn+swift", faults=("link:tor2-spine1,down=20us,up=100us",), duration_ms=20.0)
    assert run.result.flows.completed == 8


def test_routes_around_a_link_that_was_never_up_lose_nothing(tmp_path: Path) -> None:
    result = run_incast(tmp_path, faults=("link:tor1-spine1,down=0us,detect=0us",)).result
    assert result.flows.completed == 8
    assert "link_down" not in counted(result.drops)
    assert counted(result.bts).sent > 0
    assert (result.flows.timeouts, result.flows.packets_resent) == (0, 0)


def test_a_longer_detection_loses_more(tmp_path: Path) -> None:
    faults = [f"link:tor2-spine1,down=20us,detect={detect}us" for detect in (1, 20, 80)]
    lost = [counted(run_incast(tmp_path, faults=(fault,)).result.drops)["link_down"] for fault in faults]
    assert lost == sorted(lost)
    assert lost[0] < lost[-1]


@pytest.mark.parametrize(
    ("scheme", "faults", "duration_ms", "reason"),
    [
        # without both uplinks, packets that senders repeat after timeouts of 1.3 ms have no route
        ("sfc", ("link:tor2-spine1,down=30us", "link:tor2-spine2,down=30us"), 5.0, "no_route"),
        ("irn", ("loss:h16,rate=100%",), 0.5, "link_loss"),
        ("sfc", ("stall:tor2,at=30us,for=1s",), 0.2, None),
        ("sfc", ("stall:h16,at=30us,for=1s",), 0.2, None),
        ("sfc", ("restart:tor2,at=30us,down=1s",), 0.2, "restart"),
    ],
)
def test_flows_that_a_fault_cuts_off_are_reported_as_unfinished(
    tmp_path: Path, scheme: str, faults: tuple[str, ...], duration_ms: float, reason: str | None
) -> None:
    result = run_incast(tmp_path, scheme, faults=faults, duration_ms=duration_ms).result
    assert result.flows.completed < result.flows.total == 8
    assert result.flows.completed == 0 or faults != ("loss:h16,rate=100%",)
    assert reason is None or counted(result.drops)[reason] > 0
    assert (result.unexplained_loss, counted(result.packets).in_flight) == (0, 0)


@pytest.mark.parametrize("scheme", ["irn+bolt", "sfc+qcn", "egress-bts", "sfc-p+dcqcn", "bfc"])
def test_a_restart_that_loses_signals_leaves_the_packet_balance_closed(tmp_path: Path, scheme: str) -> None:
    """A switch needs time to make a BTS. A restart may lose the copy of a packet before it has become one."""
    for at_us in (31, 43, 57):
        result = run_incast(tmp_path, scheme, faults=(f"restart:tor2,at={at_us}us,down=20us",)).result
        assert counted(result.packets).switch_generated > 0
        assert counted(result.drops)["restart"] > 0
        assert (result.unexplained_loss, result.verdict) == (0, "faithful")


def test_a_run_does_not_wait_for_later_faults(tmp_path: Path) -> None:
    runs = [run_incast(tmp_path, faults=(f"link:tor2-spine1,down=20us,up={up}",)) for up in ("1s", "3000s")]
    ends = [trace(run, "queues")["time_us"].max() for run in runs]
    assert ends[0] == ends[1]


@pytest.mark.parametrize(
    "faults",
    [
        (_UPLINK,),
        ("restart:tor2,at=30us",),
        ("stall:tor2,at=30us,for=40us,ring=9",),
        ("stall:h16,at=30us,for=9us",),
        ALL_IMPAIRMENTS,
    ],
    ids=lambda faults: faults[0],
)
def test_equal_seeds_give_equal_traces(tmp_path: Path, faults: tuple[str, ...]) -> None:
    assert_same_run(*(run_incast(tmp_path, faults=faults).folder for _ in range(2)))


@pytest.mark.parametrize(
    ("specs", "spans", "words"),
    [
        ((_UPLINK,), [(f"{_UPLINK},detect=50us", 20.0, 100.0)], ["tor2-spine1 down"]),
        (
            ("restart:spine1,at=30us", "stall:h1,at=20us,for=10us"),
            [("restart:spine1,at=30us,down=50us", 30.0, 80.0), ("stall:h1,at=20us,for=10us,ring=1024", 20.0, 30.0)],
            ["spine1 restarts", "h1 stalled"],
        ),
    ],
)
def test_config_and_page_have_the_faults_with_all_parameters(
    tmp_path: Path, specs: tuple[str, ...], spans: list[tuple[str, float, float]], words: list[str]
) -> None:
    config = plan_incast(faults=specs).config
    assert [(fault.spec, fault.begin_us, fault.end_us) for fault in config.fault_spans] == spans
    assert all(f"--fault {spec}" in config.command for spec in specs)
    page = (run_incast(tmp_path, faults=specs, page=True).folder / "report.html").read_text()
    assert all(word in page for word in words)


def test_a_fault_at_an_unknown_node_is_refused() -> None:
    with pytest.raises(UsageError, match=r"--fault link:tor9-spine1: no node 'tor9' in this network"):
        plan_incast(faults=("link:tor9-spine1,down=1us",))


_SCHEMES = ("gbn", "irn", "sfc", "pfc")
_SETTINGS = {"pfc": ("switch.buffer_bytes=400000",)}  # small enough that ports pause each other
_KINDS = {
    "loss:all,rate=1%": "link_loss",
    "corrupt:all,rate=1%": "link_corrupted",
    "duplicate:all,rate=2%": None,
    "reorder:all,rate=1%": None,
    "jitter:all,max=2us": None,
}
_run = partial(run_incast, duration_ms=100.0)
"""Long enough for several timeouts in a row."""


@pytest.mark.parametrize(
    ("fault", "scheme"), [*((fault, scheme) for fault in _KINDS for scheme in _SCHEMES), ("loss:all,rate=1%", "sfc-p")]
)
def test_an_incast_survives_impaired_links(tmp_path: Path, fault: str, scheme: str) -> None:
    result = _run(tmp_path, scheme, *_SETTINGS.get(scheme, ()), faults=(fault,)).result
    drops, packets = counted(result.drops), counted(result.packets)
    assert_all_arrived(result)
    assert {name for name in drops if name.startswith("link_")} == ({_KINDS[fault]} - {None})
    assert (packets.link_duplicated > 0) is fault.startswith("duplicate")
    if fault.startswith(("duplicate", "jitter")):
        assert counted(result.flows.packets_resent) == 0
    else:
        assert counted(result.flows.packets_resent) > 0
    if scheme == "pfc":
        assert counted(result.pfc).sent > 0


def test_pfc_headroom_overflows_if_jitter_makes_links_longer(tmp_path: Path) -> None:
    """The headroom is sufficient for the configured delay, and with jitter some seeds cause drops."""

    def overflowed(*faults: str) -> int:
        return counted(_run(tmp_path, "pfc", *_SETTINGS["pfc"], faults=faults).result.drops).get("buffer_full", 0)

    assert overflowed() == 0
    assert max(overflowed(f"jitter:all,max=4us,seed={seed}") for seed in range(8)) > 0


def test_the_more_bts_are_lost_the_deeper_the_queue(tmp_path: Path) -> None:
    """SFC repeats lost BTS, so some loss needs some more buffer. Without any BTS the peak is that of IRN."""
    runs = [_run(tmp_path, faults=(f"bts-loss:all,rate={rate}",)).result for rate in ("1%", "50%", "100%")]
    unpaused = _run(tmp_path, "irn").result
    peaks = [counted(result.max_buffer_bytes) for result in runs]
    assert peaks[0] < peaks[1] < peaks[2] == unpaused.max_buffer_bytes
    for result in runs:
        assert_all_arrived(result)
        assert 0 < counted(result.drops)["link_bts_loss"] <= counted(result.bts).sent
        assert set(counted(result.drops)) == {"link_bts_loss"}
        assert result.flows.packets_resent == 0
    assert runs[2].signals.received == 0


def test_loss_is_limited_to_its_direction_and_time(tmp_path: Path) -> None:
    early = _run(tmp_path, faults=("loss:tor2,rate=100%,from=20us,until=30us,towards=spine1",)).result
    late = _run(tmp_path, faults=("loss:tor2,rate=100%,from=50ms,towards=spine1",)).result
    assert (early.flows.completed, early.unexplained_loss) == (8, 0)
    assert counted(early.drops)["link_loss"] > 0
    assert "link_loss" not in counted(late.drops)


def test_no_frame_is_counted_twice_with_all_impairments_and_a_dead_link(tmp_path: Path) -> None:
    result = _run(tmp_path, faults=ALL_IMPAIRMENTS).result
    drops = counted(result.drops)
    assert_all_arrived(result)
    assert all(drops[name] > 0 for name in ("link_loss", "link_corrupted", "link_bts_loss", "link_down"))
    assert counted(result.packets).link_duplicated > 0


def test_different_seeds_of_a_fault_hit_different_frames(tmp_path: Path) -> None:
    """A seed in the fault overrides the seed of the run."""
    first, second = (_run(tmp_path, faults=(f"loss:all,rate=1%,seed={seed}",)) for seed in (1, 2))
    assert not trace(first, "queues").equals(trace(second, "queues"))


def test_a_run_with_impairments_can_be_repeated_from_its_config(tmp_path: Path) -> None:
    spec = "duplicate:all,rate=2%,from=20us,until=100us"
    config = plan_incast(faults=(spec,)).config
    [fault] = config.fault_spans
    assert fault.spec.startswith(f"{spec},seed=")
    assert (fault.label, fault.begin_us, fault.end_us) == ("all duplicate 2%", 20.0, 100.0)
    assert f"--fault {spec}" in config.command
    by_text = _run(tmp_path, faults=(spec,), page=True)
    assert trace(by_text, "queues").equals(trace(_run(tmp_path, faults=(fault.spec,)), "queues"))
    page = (by_text.folder / "report.html").read_text()
    assert "all duplicate 2%" in page
    assert "duplicated by links" in page
    assert counted(by_text.result.packets).link_duplicated > 0
