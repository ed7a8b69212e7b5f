# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares queue depths and high-water marks with the model."""

from hypothesis import given, settings
from hypothesis import strategies as st

from softswitch.engine import SwitchEngine
from softswitch_tests.programs import steered
from softswitch_tests.programs.steered import Op, steer, steer_small
from softswitch_tests.traffic_manager.queue_model import Arrival, PortModel, telemetry_rows

ARRIVALS = st.lists(
    st.builds(
        Arrival,
        time_ns=st.integers(0, 40_000),
        port=st.sampled_from([1, 2, 70]),
        class_=st.sampled_from([0, 3, 7]),
        size=st.integers(14, 1500),
    ),
    max_size=80,
)


@settings(max_examples=60, deadline=None)
@given(
    arrivals=ARRIVALS,
    rates=st.tuples(*[st.sampled_from([0, 100_000_000, 1_000_000_007, 8_000_000_000, 100_000_000_000])] * 3),
    sample_ns=st.sampled_from([700, 1_000, 9_999]),
    taken_every=st.integers(1, 100),
)
def test_departures_and_rows_agree_with_the_model(
    arrivals: list[Arrival], rates: tuple[int, int, int], sample_ns: int, taken_every: int
) -> None:
    """Rows are also read during the run, including in the middle of an instant."""
    arrivals = sorted(arrivals, key=lambda a: a.time_ns)
    end_ns = 200_000
    models = [PortModel(port, rate) for port, rate in zip((1, 2, 70), rates, strict=True)]
    with SwitchEngine(steered.library(), sample_ns=sample_ns) as engine:
        for model in models:
            engine.command(f"port_rate {model.port} {model.rate_bps}")
            model.run([a for a in arrivals if a.port == model.port])
        rows: list[tuple[int, ...]] = []
        out = []
        for number, a in enumerate(arrivals, 1):
            out += engine.step(9, steer_small(a.port, a.size, class_=a.class_), a.time_ns)
            if number % taken_every == 0:
                rows += [tuple(row) for row in engine.ready_telemetry().tolist()]
        out += engine.advance(end_ns)
        rows += [tuple(row) for row in engine.telemetry().tolist()]
    for model in models:
        sent = [(due, len(frame)) for port, due, frame in out if port == model.port]
        assert sent == [d for d, c in zip(model.departures, _starts(model), strict=True) if c <= end_ns]
    assert rows == telemetry_rows([c for m in models for c in m.changes], sample_ns, end_ns)


def _starts(model: PortModel) -> list[int]:
    return [time_ns for time_ns, _, _, size in model.changes if size < 0]


def test_time_before_the_epoch_leaves_no_rows() -> None:
    with SwitchEngine(steered.library(), epoch_ns=10_000, sample_ns=1_000) as engine:
        engine.command("port_rate 1 8000000")
        engine.step(0, steer(1, 1_000), 0)
        engine.step(0, steer(1, 100), 0)
        engine.advance(11_000)
        assert engine.telemetry().tolist() == [(1_000, 1, 0, 0, 100, 100), (1_000, -1, -1, -1, 100, 100)]


def test_recirculation_port_is_left_out() -> None:
    """Recirculated packets never wait."""
    with SwitchEngine(steered.library(), sample_ns=1_000) as engine:
        engine.step(0, steer(510, ops=Op.RECIRCULATE, second=2), 5)
        engine.advance(1_000)
        assert engine.telemetry()["port"].tolist() == [-1]
