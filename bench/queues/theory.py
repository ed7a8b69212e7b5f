# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The fluid model of a queue: packets flow in and out at constant rates, and the buffer limits the packets that wait.

Time begins with the first packet. The packet on the wire does not wait. Must know neither switches nor measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice

BITS_PER_BYTE = 8


@dataclass(frozen=True)
class Load:
    """Frames that a host offers to the bottleneck: either at a constant rate for some time, or all at once.

    Sizes are those on the wire of the bottleneck. Frames take the sizes in turn.
    """

    name: str
    frame_bytes: Sequence[int]
    offered_share: float = 0.0
    """The offered bits/s as a share of the bottleneck's rate; 0 for a burst."""
    duration_s: float = 0.0
    burst_frames: int = 0

    @property
    def mean_bits(self) -> float:
        """The mean size of a frame, in bits."""
        return BITS_PER_BYTE * sum(self.frame_bytes) / len(self.frame_bytes)

    def frames(self, rate_bps: int) -> int:
        """Return the number of frames that are offered to a bottleneck of this rate."""
        return self.burst_frames or round(self.offered_share * rate_bps * self.duration_s / self.mean_bits)

    def schedule(self, rate_bps: int) -> list[tuple[int, int]]:
        """Return the time (ns since the first frame) and the size of each frame.

        The time between two frames is the time that the first of them takes at the offered rate.
        """
        offered_bps = self.offered_share * rate_bps
        frames, sent_bits = [], 0
        for size in islice(cycle(self.frame_bytes), self.frames(rate_bps)):
            frames.append((round(1e9 * sent_bits / offered_bps) if offered_bps else 0, size))
            sent_bits += BITS_PER_BYTE * size
        return frames


@dataclass(frozen=True)
class FluidQueue:
    """A queue that gets packets at a constant rate during `duration_s` and then drains."""

    arriving_pps: float
    serving_pps: float
    buffer_packets: int
    duration_s: float
    initial_packets: int = 0
    """The packets of a burst, which wait from the start."""
    lost_at_once: int = 0
    """The packets of a burst for which the buffer has no room."""

    @property
    def growth_pps(self) -> float:
        """The packets/s by which an unlimited queue grows while packets arrive; negative if it shrinks."""
        return self.arriving_pps - self.serving_pps

    @property
    def full_s(self) -> float | None:
        """The time at which the buffer becomes full, or None."""
        if self.growth_pps <= 0:
            return None
        full_s = (self.buffer_packets - self.initial_packets) / self.growth_pps
        return full_s if full_s < self.duration_s else None

    @property
    def empty_s(self) -> float:
        """The time from which on the queue stays empty."""
        return self.duration_s + self.depth(self.duration_s) / self.serving_pps

    def depth(self, time_s: float) -> float:
        """Return the packets that wait at a time."""
        loaded_s = min(time_s, self.duration_s)
        loaded = min(self.buffer_packets, max(0.0, self.initial_packets + self.growth_pps * loaded_s))
        return max(0.0, loaded - self.serving_pps * (time_s - loaded_s))

    def depth_behind(self, time_s: float) -> float:
        """Return the packets that a leaving packet leaves behind: at most a full buffer without itself."""
        return min(self.depth(time_s), self.buffer_packets - 1)

    @property
    def peak_behind(self) -> float:
        """The most packets that a packet leaves behind. Of a burst, the second packet is the first that waited."""
        if self.initial_packets:
            return self.initial_packets - 1
        return self.depth_behind(self.duration_s)

    @property
    def lost(self) -> float:
        """The packets that find the buffer full."""
        return self.lost_at_once + (0.0 if self.full_s is None else self.growth_pps * (self.duration_s - self.full_s))

    def first_time_of(self, packets: int) -> float | None:
        """Return the first time at which at least `packets` wait, or None."""
        if self.depth(0.0) >= packets:
            return 0.0
        if self.growth_pps <= 0 or self.depth(self.duration_s) < packets:
            return None
        return (packets - self.initial_packets) / self.growth_pps

    def marked(self, threshold: int) -> float:
        """Return how many packets enter the queue while at least `threshold` packets wait in it."""
        begin_s = self.first_time_of(threshold)
        if begin_s is None:
            return 0.0
        if self.initial_packets:  # packet n of those that wait finds n - 1 others
            return max(0.0, self.initial_packets - threshold)
        return self.arriving_pps * (self.duration_s - begin_s) - self.lost

    def leaving_pps(self, time_s: float) -> float:
        """Return the rate at which packets leave at a time."""
        if self.depth(time_s) > 0:
            return self.serving_pps
        return min(self.arriving_pps, self.serving_pps) if time_s < self.duration_s else 0.0


def fluid_queue(load: Load, rate_bps: int, buffer_packets: int) -> FluidQueue:
    """Return the queue that a load builds up in front of a wire. One packet of a burst goes onto the wire at once."""
    waiting = max(0, load.burst_frames - 1)
    return FluidQueue(
        arriving_pps=load.offered_share * rate_bps / load.mean_bits,
        serving_pps=rate_bps / load.mean_bits,
        buffer_packets=buffer_packets,
        duration_s=load.duration_s,
        initial_packets=min(waiting, buffer_packets),
        lost_at_once=max(0, waiting - buffer_packets),
    )
