# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Bursts through softswitch in Mininet, with programs that behave like the exercises, compared with theory by counts.

The results do not depend on the machine's speed: a frame leaves each 40 ms, and the test knows how long sending took.
"""

from __future__ import annotations

from pathlib import Path

from bench.queues import frames
from bench.queues.exercises import BUFFER_PACKETS, ECN_THRESHOLD, EXERCISES
from bench.queues.measurement import Recording, record
from bench.queues.network import bottleneck
from bench.queues.targets import SOFTSWITCH
from bench.queues.theory import Load, fluid_queue
from softswitch.build import build_executable
from softswitch_tests.pipeline.harness import PROGRAMS
from tests.testbed import running

pytestmark = running.NEEDS_MININET
RATE_BPS = 200_000
BURST = Load("burst", (1_000,), burst_frames=100)
FRAME_S = 8 * 1_000 / RATE_BPS
THEORY = fluid_queue(BURST, RATE_BPS, BUFFER_PACKETS)


def burst_through(exercise_name: str, folder: Path) -> tuple[Recording, int]:
    """Send the burst; return what arrived, and how many frames may have left before all were sent."""
    exercise, program = EXERCISES[exercise_name], PROGRAMS / f"{exercise_name}.json"
    build_executable(program)  # so that the C compiler's time is not part of the start
    with bottleneck(exercise, program, RATE_BPS, SOFTSWITCH, folder) as hosts:
        recording = record(hosts, exercise.frames(BURST, RATE_BPS, THEORY.empty_s), THEORY.empty_s)
    return recording, 1 + int(recording.most_late_s / FRAME_S)


def numbers_of(recording: Recording) -> list[int]:
    numbers = [frames.number_of(frame) for _, frame in recording.arrivals]
    return [number for number in numbers if number is not None]


def test_queue_of_mri_holds_the_buffer_and_drains_packet_by_packet(tmp_path: Path) -> None:
    recording, slack = burst_through("mri", tmp_path)
    numbers = numbers_of(recording)
    lost = recording.sent - len(numbers)
    assert recording.sent == 100
    assert THEORY.lost - slack <= lost <= THEORY.lost
    assert numbers[: BUFFER_PACKETS + 1] == list(range(BUFFER_PACKETS + 1))
    depths = [frames.mri_depths(frame) for _, frame in recording.arrivals if frames.number_of(frame) is not None]
    assert {depth[2] for depth in depths} == {0}
    drained = [depth[1] for depth in depths[-(BUFFER_PACKETS - slack) :]]
    assert drained == list(reversed(range(BUFFER_PACKETS - slack)))
    assert max(depth[1] for depth in depths) == THEORY.peak_behind


def test_ecn_marks_from_the_threshold_on(tmp_path: Path) -> None:
    recording, slack = burst_through("ecn", tmp_path)
    numbers = numbers_of(recording)
    marked = [frames.number_of(frame) for _, frame in recording.arrivals if frames.is_marked(frame)]
    first = marked[0]
    assert first is not None
    assert ECN_THRESHOLD + 1 <= first <= ECN_THRESHOLD + 1 + slack
    assert marked == numbers[numbers.index(first) :]
    assert THEORY.marked(ECN_THRESHOLD) - slack <= len(marked) <= THEORY.marked(ECN_THRESHOLD) + slack
