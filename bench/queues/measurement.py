# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Offers a load to a network and reads what the exercise reports from the frames that arrive.

A time is the kernel's time stamp at the receiver, in seconds since the first frame was sent.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from bench.queues import frames
from bench.queues.exercises import NS, Exercise
from bench.queues.theory import FluidQueue, Load
from sfc_testbed.hosts.io.packet_socket import PacketSocket

_SILENCE_S = 1.5
"""The time without a frame after which nothing more is expected."""
_POLL_S = 0.002
_FIRST_SWITCH = 1


class MeasurementError(Exception):
    """A measurement that says nothing about the switches; the message is one line."""


@dataclass(frozen=True)
class Hosts:
    """The sockets of the two hosts of a running network."""

    sender: PacketSocket
    receiver: PacketSocket


@dataclass(frozen=True)
class Recording:
    """The frames that arrived, with their times, and how well the sender kept its schedule."""

    arrivals: Sequence[tuple[float, bytes]]
    sent: int
    """The data frames that were sent."""
    most_late_s: float
    """The longest time by which a frame left later than scheduled."""


@dataclass(frozen=True)
class Measurement:
    """The result of an exercise for one load."""

    sent: int
    received: int
    throughput_bps: float | None
    """The rate of the data on the bottleneck in the second half of the load, or None for too few frames."""
    most_late_s: float
    figures: dict[str, float | None]
    times_s: list[float]
    values: list[float]


def record(hosts: Hosts, timed_frames: Sequence[tuple[int, bytes]], end_s: float) -> Recording:
    """Send each frame at its time; return what arrives until `end_s` and until no frame has arrived for a while."""
    with _on_time():
        return _record(hosts, timed_frames, end_s)


@contextmanager
def _on_time() -> Iterator[None]:
    """Run the body with real-time priority, so that other work on the machine does not delay frames."""
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)


def _record(hosts: Hosts, timed_frames: Sequence[tuple[int, bytes]], end_s: float) -> Recording:
    arrivals: list[tuple[int, bytes]] = []
    start_ns = last_ns = time.monotonic_ns()
    most_late_ns = sent = 0
    for due_ns, frame in timed_frames:
        while (early_ns := start_ns + due_ns - time.monotonic_ns()) > 0:
            _drain(hosts, arrivals)
            time.sleep(min(early_ns / NS, _POLL_S))
        most_late_ns = max(most_late_ns, -early_ns)
        if hosts.sender.send(frame):
            sent += frames.number_of(frame) is not None
    while time.monotonic_ns() < max(last_ns, start_ns + round(end_s * NS)) + _SILENCE_S * NS:
        if _drain(hosts, arrivals):
            last_ns = time.monotonic_ns()
        time.sleep(_POLL_S)
    if drops := hosts.receiver.kernel_drops():
        raise MeasurementError(f"the receiver itself lost {drops} frames; measure again on a less busy machine")
    times = [((time_ns - start_ns) / NS, frame) for time_ns, frame in arrivals]
    return Recording(times, sent, most_late_ns / NS)


def measure(
    exercise: Exercise, load: Load, rate_bps: int, theory: FluidQueue, recording: Recording, wire_s: float
) -> Measurement:
    """Return what the exercise reported. A frame arrives `wire_s` after it has left the queue."""
    data = [(time_s, number) for time_s, frame in recording.arrivals if (number := frames.number_of(frame)) is not None]
    schedule = load.schedule(rate_bps)
    left = [(time_s - wire_s, frame) for time_s, frame in recording.arrivals]
    times_s, values, figures = _READERS[exercise.name](left, schedule, theory)
    return Measurement(
        recording.sent,
        len(data),
        _throughput_bps(data, [size for _, size in schedule], load.duration_s),
        recording.most_late_s,
        figures,
        times_s,
        values,
    )


_TimedFrames = Sequence[tuple[float, bytes]]
_Schedule = Sequence[tuple[int, int]]
_Reading = tuple[list[float], list[float], dict[str, float | None]]


def _depths(left: _TimedFrames, schedule: _Schedule, theory: FluidQueue) -> _Reading:
    """Read the depth that each frame left behind in the queue of the first switch.

    The first frame is omitted: it finds the wire idle and leaves before others come.
    """
    data = [(time_s, frame) for time_s, frame in left if frames.number_of(frame)]
    times_s = [time_s for time_s, _ in data]
    depths = [float(frames.mri_depths(frame)[_FIRST_SWITCH]) for _, frame in data]
    errors = [abs(depth - theory.depth_behind(max(0.0, time_s))) for time_s, depth in zip(times_s, depths, strict=True)]
    mean_error = sum(errors) / len(errors) if errors else None
    return times_s, depths, {"peak": max(depths, default=None), "mean_error": mean_error}


def _marks(left: _TimedFrames, schedule: _Schedule, theory: FluidQueue) -> _Reading:
    """Read the marks, by the times at which the frames were to be sent, because they entered the queue then."""
    marks = {number: frames.is_marked(frame) for _, frame in left if (number := frames.number_of(frame)) is not None}
    sent_s = {number: schedule[number][0] / NS for number in sorted(marks)}
    first_s = next((sent_s[number] for number in sent_s if marks[number]), None)
    values = [float(marks[number]) for number in sent_s]
    return list(sent_s.values()), values, {"first_mark_s": first_s, "marked": float(sum(marks.values()))}


def _utilisations(left: _TimedFrames, schedule: _Schedule, theory: FluidQueue) -> _Reading:
    """Read the utilisation of the bottleneck from the probes. The first probe counts bytes from before the load.

    The mean covers the second half of the load. After a burst, the second probe comes behind all of its frames.
    """
    probes = [
        (time_s, hop) for time_s, frame in left for hop in frames.probe_hops(frame) if hop.switch == _FIRST_SWITCH
    ][1:]
    times_s = [time_s for time_s, _ in probes]
    values = [hop.utilisation_bps or 0.0 for _, hop in probes]
    steady = [hop for time_s, hop in probes if theory.duration_s / 2 <= time_s <= theory.duration_s]
    loaded = steady if theory.duration_s else [hop for _, hop in probes[:1]]
    elapsed_us = sum(hop.time_us - hop.last_us for hop in loaded)
    mean_bps = 8e6 * sum(hop.sent_bytes for hop in loaded) / elapsed_us if elapsed_us else None
    return times_s, values, {"utilisation_bps": mean_bps}


_READERS = {"mri": _depths, "ecn": _marks, "link_monitor": _utilisations}


def _throughput_bps(data: Sequence[tuple[float, int]], sizes: Sequence[int], duration_s: float) -> float | None:
    """Return the rate of the frames that arrived in the second half of the load, or of all frames of a burst."""
    window = [pair for pair in data if not duration_s or duration_s / 2 <= pair[0] <= duration_s]
    if len(window) < 2:
        return None
    bits = 8 * sum(sizes[number] for _, number in window[1:])
    return bits / (window[-1][0] - window[0][0])


def _drain(hosts: Hosts, arrivals: list[tuple[int, bytes]]) -> bool:
    """Read the frames that have arrived; return whether there were any."""
    received, times_ns = hosts.receiver.receive()
    arrivals += zip(times_ns, received, strict=True)
    return bool(received)
