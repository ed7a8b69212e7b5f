# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The slowest flows of each traffic class in a stored run, each with its history and the reasons for its lost time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from sfc_testbed.analysis.formatting import enumeration
from sfc_testbed.analysis.life.events import LifeEvent
from sfc_testbed.analysis.life.port_curve import PortCurve
from sfc_testbed.analysis.life.reasons import Hop, Observations, Pause, Reason, reasons_of
from sfc_testbed.analysis.life.stored import DELIVERIES, REQUESTS, Delivery, events_of
from sfc_testbed.analysis.metrics.percentiles import Values
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.request.spec import AFTER_COLUMN, FLOW_FILE, QUEUE_PAIR_COLUMN, RunConfig
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.telemetry.schema import WHOLE_BUFFER
from sfc_testbed.topologies.model import Port, Topology
from sfc_testbed.topologies.routes import hops_between

COUNT = 5
"""The flows of each traffic class on a page."""
_MOST_CLASSES = 6
_LEAST_SHARE = 0.01
"""The smallest share of the lost time that a reason needs to be shown."""
_PLACES = 1 << 16
"""A number that is higher than the number of any port."""
_WITHOUT_CONTROL = ("none", "window")
"""The congestion controls that never change rate or window."""


@dataclass(frozen=True)
class SlowFlow:
    """A slow flow with its reasons and its history."""

    row: Mapping[str, Any]
    """The row of flows.parquet."""
    lost_us: float | None
    """The time beyond the ideal FCT; None for a message that was never ready. It grows while the flow is unfinished."""
    reasons: Sequence[Reason]
    events: Sequence[LifeEvent]

    @property
    def sentence(self) -> str:
        """The reasons and their shares of the lost time."""
        total = sum(reason.lost_us for reason in self.reasons)
        if self.lost_us is None:
            return "; ".join(reason.text for reason in self.reasons)
        shares = [(reason.text, reason.lost_us / total) for reason in self.reasons if total]
        texts = [f"{share * 100:.0f} % {text}" for text, share in shares if share >= _LEAST_SHARE]
        return "; ".join(texts) or "no time lost"


def slowest_flows(run: Run, count: int = COUNT) -> list[SlowFlow]:
    """Return the slowest flows of each class, slowest first. Unfinished flows come before all others.

    If the network of the run is unknown, so are the queues on the path of a flow, and their time is not recorded.
    """
    numbers = _slowest(run, count)
    if not numbers:
        return []
    rows = answer(run.all_flows.filter(pl.col("flow_id").is_in(numbers)))
    by_number = {row["flow_id"]: row for row in rows.iter_rows(named=True)}
    is_chosen = pl.col("flow_id").is_in(numbers)
    signals: dict[int, list[dict[str, Any]]] = {number: [] for number in numbers}
    for row in answer(run.signals.filter(is_chosen)).sort("received_us", maintain_order=True).iter_rows(named=True):
        signals[row["flow_id"]].append(row)
    deliveries: dict[int, list[Delivery]] = {number: [] for number in numbers}
    for number, *delivery in (
        answer(run.goodput.filter(is_chosen)).sort("from_us").select("flow_id", *DELIVERIES).rows()
    ):
        deliveries[number].append(tuple(delivery))
    observer = _Observer(run, list(by_number.values()), signals, deliveries)
    return [observer.observed(by_number[number]) for number in numbers]


def _slowest(run: Run, count: int) -> list[int]:
    """Return the numbers of the slowest flows of each class, the slowest first."""
    flows = run.flows.select("flow_id", "tag", "start_us", pl.col("slowdown").fill_null(float("inf")))
    window = run.result.measured_window_us
    if window is not None:
        flows = flows.filter(pl.col("start_us").is_between(*window))
    tops = []
    for tag in sorted(flows["tag"].unique())[:_MOST_CLASSES]:
        of_class = flows.filter(pl.col("tag") == tag)
        least = of_class["slowdown"].top_k(count).min()
        tops.append(_by_slowdown(of_class.filter(pl.col("slowdown") >= least)).head(count))
    numbers: list[int] = _by_slowdown(pl.concat(tops))["flow_id"].to_list() if tops else []
    return numbers


def _by_slowdown(flows: pl.DataFrame) -> pl.DataFrame:
    return flows.sort("slowdown", "flow_id", descending=[True, False])


class _Observer:
    """Collects what the traces of a run say about some flows."""

    def __init__(
        self,
        run: Run,
        rows: Sequence[Mapping[str, Any]],
        signals: Mapping[int, Sequence[Mapping[str, Any]]],
        deliveries: Mapping[int, Sequence[Delivery]],
    ) -> None:
        self._run, self._signals, self._deliveries = run, signals, deliveries
        self._config = run.config
        self._topology = run.topology if run.topology is not None and _fits(run.topology, rows) else None
        self._paths: dict[tuple[str, str], tuple[tuple[Port, ...], ...]] = {}
        if self._topology is not None:
            pairs = {(row[end], row[other]) for row in rows for end, other in (("src", "dst"), ("dst", "src"))}
            self._paths = {pair: hops_between(self._topology, *pair) for pair in pairs}
        ports = {port for path in self._paths.values() for hop in path for port in hop}
        topology = self._topology
        tor_ports = {} if topology is None else {row["src"]: topology.tor_port(row["src"]) for row in rows}
        carried = _samples(run.links, ports | {*tor_ports.values()}, "sent_bytes", "received_bytes")
        self._curves = _QueueCurves(run, self._topology, ports, carried)
        self._nics = _nic_curves(self._topology, tor_ports, carried)
        self._end_us = _end_us(run, rows)
        self._waits = _Waits.of_run(run, [row["flow_id"] for row in rows])

    def observed(self, row: Mapping[str, Any]) -> SlowFlow:
        """Return a flow with its reasons and history."""
        signals, deliveries = self._signals[row["flow_id"]], self._deliveries[row["flow_id"]]
        events = events_of(row, signals, deliveries)
        if row["start_us"] is None:
            return SlowFlow(row, None, [Reason("message", self._waits.sentence(row["flow_id"]), 0.0)], events)
        reasons = reasons_of(self._observations(row, signals, deliveries))
        return SlowFlow(row, sum(reason.lost_us for reason in reasons), reasons, events)

    def _observations(
        self, row: Mapping[str, Any], signals: Iterable[Mapping[str, Any]], deliveries: Iterable[Delivery]
    ) -> Observations:
        topology, config, ends = self._topology, self._config, (row["src"], row["dst"])
        hops = () if topology is None else tuple(self._hop(hop) for hop in self._paths[ends])
        one_way_us = self._run.result.base_rtt_us / 2
        if topology is not None:
            one_way_us = topology.departure_delay_ns(Port(row["src"], 0)) / 1000 + sum(hop.delay_us for hop in hops)
        finish_us = row["finish_us"] if row["received_us"] is None else row["received_us"]
        end_us = self._end_us if finish_us is None else finish_us
        if row["received_us"] is None and row["finish_us"] is not None:
            end_us -= one_way_us  # a run of an older release
        is_late = topology is not None and row["finish_us"] is not None and row["finish_us"] > end_us + one_way_us
        result = self._run.result
        rate_bps = 0 if topology is None else topology.host_link[row["src"]].rate_bps
        return Observations(
            row,
            end_us,
            hops,
            return_hops=tuple(self._hop(hop) for hop in self._paths[ends[::-1]]) if is_late else (),
            access_us=0.0 if topology is None else topology.host_link[row["src"]].delay_ns / 1000,
            return_us=one_way_us,
            pauses=_pauses(row, signals),
            delivered_us=[until_us for _, until_us, _ in deliveries],
            nic=self._nics.get(row["src"]),
            nic_rate_bps=rate_bps,
            window_bytes=_window_bytes(config, rate_bps),
            earlier=self._earlier(row),
            stops_ports=_stops_ports(config),
            other_pause=_other_pause(config, row["src"], "" if topology is None else topology.host[row["src"]].switch),
            congestion=_congestion(config),
            has_losses=bool(result.dropped or result.unexplained_loss or self._run.fault_spans),
        )

    def _hop(self, ports: Sequence[Port]) -> Hop:
        assert self._topology is not None
        links = self._topology.link_at
        peers = {end.node for port in ports for end in (links[port].a, links[port].b) if end != port}
        delays_us = [self._topology.departure_delay_ns(port) / 1000 for port in ports]
        names = [(port.node, port.number) for port in ports]
        stops = not peers & self._topology.host.keys() or _settings(self._config)[1].get("receiver_rate_bps")
        towards = peers.pop() if len(peers) == 1 and stops else ""
        return Hop(names, towards, self._curves.of(ports), max(delays_us, default=0.0))

    def _earlier(self, row: Mapping[str, Any]) -> tuple[int, float] | None:
        """Return the last earlier message on the flow's queue pair that ended after the flow was ready."""
        number = self._waits.earlier.get(row["flow_id"])
        if number is None:
            return None
        finish_us = answer(self._run.all_flows.filter(pl.col("flow_id") == number))["finish_us"][0]
        sent_us = self._end_us if finish_us is None else finish_us - self._run.result.base_rtt_us
        return (number, sent_us) if sent_us > row["start_us"] else None


@dataclass(frozen=True)
class _Waits:
    """The messages for which some flows wait, according to the flow list of the run."""

    after: Mapping[int, Sequence[int]]
    """The flows that each flow waits for before it is ready."""
    earlier: Mapping[int, int]
    """The last earlier message on the queue pair of each flow."""
    unfinished: Sequence[int]
    """The flows of `after` that did not finish."""

    @classmethod
    def of_run(cls, run: Run, numbers: Sequence[int]) -> _Waits:
        """Read the flow list of a run, unless its flows neither wait nor share a queue pair."""
        try:
            columns = _columns(run.folder / FLOW_FILE)
            if not {QUEUE_PAIR_COLUMN, AFTER_COLUMN} & set(columns):
                return cls({}, {}, ())
            types = {AFTER_COLUMN: pl.String, QUEUE_PAIR_COLUMN: pl.Int64}
            names = [name for name in ("src", "dst", QUEUE_PAIR_COLUMN, AFTER_COLUMN) if name in columns]
            listed = pl.read_csv(
                run.folder / FLOW_FILE, comment_prefix="#", columns=names, schema_overrides=types
            ).with_row_index("flow_id", offset=1)
        except (OSError, pl.exceptions.PolarsError):
            return cls({}, {}, ())
        chosen = listed.filter(pl.col("flow_id").is_in(numbers))
        after = _numbers_after(chosen) if AFTER_COLUMN in columns else {}
        earlier = _earlier_on_pair(listed, chosen) if QUEUE_PAIR_COLUMN in columns else {}
        awaited = sorted({number for of_flow in after.values() for number in of_flow})
        ends = run.flows.filter(pl.col("flow_id").is_in(awaited) & pl.col("finish_us").is_null())
        return cls(after, earlier, ends["flow_id"].to_list())

    def sentence(self, number: int) -> str:
        """Return the reason why a message was never ready."""
        awaited = [f"flow {other}" for other in self.after.get(number, ()) if other in self.unfinished]
        return f"waits for {enumeration(awaited)}, which did not finish" if awaited else "waits for another message"


def _columns(path: Path) -> list[str]:
    """Return the names of the columns of a flow list."""
    with path.open(encoding="utf-8") as lines:
        header = next((line for line in lines if not line.startswith("#")), "")
    return header.strip().split(",")


def _numbers_after(chosen: pl.DataFrame) -> dict[int, list[int]]:
    texts = chosen.select("flow_id", AFTER_COLUMN).drop_nulls().iter_rows()
    return {number: [int(word) for word in str(text).split()] for number, text in texts}


def _earlier_on_pair(listed: pl.DataFrame, chosen: pl.DataFrame) -> dict[int, int]:
    pair = ["src", "dst", QUEUE_PAIR_COLUMN]
    on_pairs = chosen.filter(pl.col(QUEUE_PAIR_COLUMN) > 0)
    both = on_pairs.join(listed.select(*pair, other="flow_id"), on=pair).filter(pl.col("other") < pl.col("flow_id"))
    return dict(both.group_by("flow_id").agg(pl.col("other").max()).iter_rows())


def _fits(topology: Topology, rows: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether the network has the hosts of some flows."""
    return all(row[end] in topology.host for row in rows for end in ("src", "dst"))


def _end_us(run: Run, rows: Iterable[Mapping[str, Any]]) -> float:
    """Return the end of the run: the time of the last sample, or of the last event of these flows."""
    times = [row[name] for row in rows for name in ("start_us", "finish_us") if row[name] is not None]
    last = answer(run.queues.select(pl.col("time_us").max()))["time_us"][0]
    return max([*times, *([] if last is None else [last])], default=0.0)


_Samples: TypeAlias = Mapping[str, Values]
"""The samples of a port in order of time, by column."""


def _samples(rows: pl.LazyFrame, ports: Iterable[Port], *values: str) -> dict[Port, _Samples]:
    """Return the samples of some ports, summed over traffic classes, in order of time."""
    known = set(ports)
    if not known:
        return {}
    switches = sorted({port.node for port in known})
    place = pl.col("switch").cast(pl.Enum(switches)).to_physical().cast(pl.Int64) * _PLACES + pl.col("port")
    is_known = pl.col("switch").is_in(switches) & pl.col("port").is_in({port.number for port in known})
    # Sorting by a number takes a tenth of the time of sorting by names.
    frame = answer(rows.filter(is_known).select("time_us", *values, place=place)).sort("place", maintain_order=True)
    places = frame["place"].to_numpy()
    columns = {name: frame[name].to_numpy() for name in ("time_us", *values)}
    samples: dict[Port, _Samples] = {}
    for port in known:
        own = switches.index(port.node) * _PLACES + port.number
        first, last = np.searchsorted(places, (own, own + 1))
        if last > first:
            samples[port] = _of_port({name: column[first:last] for name, column in columns.items()})
    return samples


def _of_port(rows: _Samples) -> _Samples:
    """Return the samples of a port in order of time, summed over traffic classes."""
    times = rows["time_us"]
    if (np.diff(times) > 0).all():
        return rows  # one class
    order = np.argsort(times, kind="stable")
    starts = np.flatnonzero(np.diff(times[order], prepend=-1.0))
    sums = {name: np.add.reduceat(column[order].astype(np.float64), starts) for name, column in rows.items()}
    return sums | {"time_us": times[order][starts]}


def _aligned(times_us: Values, samples: _Samples | None, name: str) -> Values:
    """Return the values of a port at each sampling time; 0 where it has no row."""
    values = np.zeros(times_us.size)
    if samples is not None and times_us.size:
        at = np.searchsorted(times_us, samples["time_us"] - 1e-6)
        is_known = at < times_us.size
        values[at[is_known]] = samples[name][is_known]
    return values


class _QueueCurves:
    """The curves of ports; none without a network or without the bytes of links."""

    def __init__(self, run: Run, topology: Topology | None, ports: set[Port], carried: Mapping[Port, _Samples]) -> None:
        self._topology, self._carried = topology, carried
        self._curves: dict[Port, PortCurve] = {}
        if topology is None or not carried:
            self._depths: Mapping[Port, _Samples] = {}
            return
        wholes = {Port(port.node, WHOLE_BUFFER) for port in ports}
        self._depths = _samples(run.queues, ports | wholes, "depth_bytes", "high_water_bytes")
        self._interval_us = _interval_us(carried)

    def of(self, ports: Iterable[Port]) -> list[PortCurve]:
        """Return the curves of those ports whose switch has samples."""
        return [self._curve(port) for port in ports if Port(port.node, WHOLE_BUFFER) in self._depths]

    def _curve(self, port: Port) -> PortCurve:
        if port not in self._curves:
            assert self._topology is not None
            times = self._depths[Port(port.node, WHOLE_BUFFER)]["time_us"]
            of_queue = self._depths.get(port)
            depth, peak = (_aligned(times, of_queue, name) for name in ("depth_bytes", "high_water_bytes"))
            departed = _summed(times, self._carried.get(port), "sent_bytes", self._interval_us)
            rate_bps = self._topology.link_at[port].rate_bps
            self._curves[port] = PortCurve.of_samples(times, departed, depth, peak, rate_bps)
        return self._curves[port]


def _interval_us(carried: Mapping[Port, _Samples]) -> float:
    """Return the sampling interval of links, which may be longer than that of queues."""
    return min(float(np.diff(samples["time_us"], prepend=0.0).min()) for samples in carried.values())


def _summed(times_us: Values, samples: _Samples | None, name: str, interval_us: float) -> Values:
    """Return the bytes that a port had carried until each time, spread evenly over each sampling interval."""
    if samples is None:
        return np.zeros(times_us.size)
    ends, sums = samples["time_us"], np.cumsum(samples[name])
    limits = np.stack([ends - interval_us, ends], axis=1).reshape(-1)
    carried = np.stack([sums - samples[name], sums], axis=1).reshape(-1)
    return np.interp(times_us, np.maximum.accumulate(limits), carried)


def _nic_curves(
    topology: Topology | None, tor_ports: Mapping[str, Port], carried: Mapping[Port, _Samples]
) -> dict[str, PortCurve]:
    """Return the bytes that the NICs of hosts sent, as their ToRs received them."""
    if topology is None or not carried:
        return {}
    interval_us = _interval_us(carried)
    curves = {}
    for host, port in tor_ports.items():
        if port in carried:
            times = np.unique(np.concatenate([carried[port]["time_us"], carried[port]["time_us"] - interval_us]))
            sent = _summed(times, carried[port], "received_bytes", interval_us)
            nothing = np.zeros(times.size)
            curves[host] = PortCurve.of_samples(times, sent, nothing, nothing, topology.link_at[port].rate_bps)
    return curves


def _pauses(row: Mapping[str, Any], signals: Iterable[Mapping[str, Any]]) -> list[Pause]:
    """Return the pauses that BTS set at the sender. A newer BTS replaces the end of an older pause."""
    set_by = [
        signal
        for signal in signals
        if signal["obeyed"] and signal["paused_until_us"] is not None and signal["host"] == row["src"]
        if signal["cause"] not in REQUESTS
    ]
    pauses = []
    for signal, following in zip_longest(set_by, set_by[1:]):
        begin_us, end_us = signal["received_us"], signal["paused_until_us"]
        if following is not None:
            end_us = min(end_us, following["received_us"])
        if end_us > begin_us:
            cache = " (pause cache)" if signal["cause"] == "cache" else ""
            pauses.append(Pause(begin_us, end_us, f"paused by BTS of {signal['switch']}{cache}"))
    return pauses


def _settings(config: RunConfig | None) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return ({}, {}) if config is None else (config.switch_settings, config.transport_settings)


def _window_bytes(config: RunConfig | None, rate_bps: int) -> int:
    """Return the bytes that a flow may send before the first acknowledgement."""
    if config is None:
        return 0
    physics = config.physics
    window_bytes = physics.window_of_nics.get(rate_bps, physics.window_bytes)
    return physics.bdp_of_nics.get(rate_bps, physics.bdp_bytes) if window_bytes is None else window_bytes


def _stops_ports(config: RunConfig | None) -> bool:
    return bool(_settings(config)[0].get("pfc"))


def _other_pause(config: RunConfig | None, host: str, tor: str) -> str:
    """Return the reason for pauses that no BTS set."""
    switch, transport = _settings(config)
    if switch.get("bfc_queues"):
        return f"paused by BFC of {tor or 'its ToR'}"
    if switch.get("pfc") or switch.get("sfc_p"):
        return f"NIC of {host} stopped by PFC of {tor or 'its ToR'}"
    name = transport.get("flow_control", "none")
    return "paused by its flow control" if name == "none" else f"paused by its flow control ({name})"


def _congestion(config: RunConfig | None) -> str:
    name = _settings(config)[1].get("congestion", "none")
    return "" if name in _WITHOUT_CONTROL else str(name)
