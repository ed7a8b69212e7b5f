# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The event loop that serves many NICs on the real clock, with their sockets and one timer.

The loop sleeps whenever nothing is due. It makes no decisions: every NIC schedules its frames in ideal time, and the
loop only carries the frames and measures how far from its ideal time each was sent.

While frames flow, one wake-up serves all frames of a window: the loop wakes half a window after the first frame is due
and also sends the frames that are due half a window later, so that frames are as often early as late. Arriving frames
then do not wake it. c/process/process_loop.c of softswitch does the same.
"""

import select
import time
from collections.abc import Callable
from heapq import heappop, heappush

from sfc_testbed.hosts.io import kernel_calls
from sfc_testbed.hosts.io.late_bins import LateBins
from sfc_testbed.hosts.io.lateness import LatenessHistogram
from sfc_testbed.hosts.io.packet_socket import PacketSocket
from sfc_testbed.hosts.io.spacing import SpacingHistogram, WireSpacing
from sfc_testbed.hosts.io.tap import TapDevice
from sfc_testbed.hosts.io.timer import MonotonicTimer
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.reports import Event

_REST_NS = 1_000_000_000
_NEVER = 1 << 62
_FLOWING = 2
"""Number of frames, sent or received in one round, from which on the next round waits for a window."""


class _Station:
    """A NIC with its socket and the time of its next timer."""

    __slots__ = ("due_ns", "nic", "socket", "spacing", "tap")

    def __init__(self, nic: Nic, socket: PacketSocket, spacing: SpacingHistogram) -> None:
        self.nic = nic
        self.spacing = WireSpacing(nic.wire_rate_bps, spacing)
        self.socket = socket
        self.tap: TapDevice | None = None
        self.due_ns = _NEVER


class EventLoop:
    """A loop that waits for frames, timers and commands and passes them to the NICs."""

    def __init__(self, on_event: Callable[[str, Event], None], *, window_ns: int = 0) -> None:
        """Call `on_event` with the host's name and every event of its NIC. With a window of 0, every frame is sent as
        soon as it is due.
        """
        self.lateness = LatenessHistogram()
        """Difference between actual and ideal departure time of every frame sent (wall ns)."""
        self.spacing = SpacingHistogram()
        """Errors in the spacing of consecutive frames on a host's wire."""
        self.late_bins: LateBins | None = None
        """Lateness over time; None until the caller sets it."""
        self._on_event = on_event
        self._epoll = select.epoll()
        self._timer = MonotonicTimer()
        self._epoll.register(self._timer.fileno(), select.EPOLLIN)
        self._stations: dict[int, _Station] = {}
        self._readers: dict[int, Callable[[], None]] = {}
        self._due: list[tuple[int, int]] = []
        self._half_window_ns = window_ns // 2
        self._moved = 0
        self._is_sending = True
        self._is_running = True

    def add_nic(self, nic: Nic, socket: PacketSocket) -> None:
        """Serve a NIC over a socket, which the caller closes after the loop has ended."""
        self._stations[socket.fileno()] = _Station(nic, socket, self.spacing)
        self._epoll.register(socket.fileno(), select.EPOLLIN)

    def add_programs(self, socket: PacketSocket, tap: TapDevice) -> None:
        """Carry the traffic of a host's ordinary programs through the NIC that was added with this socket."""
        descriptor = socket.fileno()
        station = self._stations[descriptor]
        station.tap = tap
        station.nic.attach_programs()

        def on_readable() -> None:
            for frame in tap.receive():
                station.nic.send_program_frame(frame, time.monotonic_ns())
            self._serve(descriptor, station)

        self.add_reader(tap.fileno(), on_readable)

    def add_reader(self, descriptor: int, callback: Callable[[], None]) -> None:
        """Call back whenever a descriptor is readable or closed."""
        self._readers[descriptor] = callback
        self._epoll.register(descriptor, select.EPOLLIN)

    def remove_reader(self, descriptor: int) -> None:
        """Stop watching a descriptor."""
        del self._readers[descriptor]
        self._epoll.unregister(descriptor)

    def call_soon(self) -> None:
        """Update the timers of all NICs, after they were given new messages."""
        for descriptor, station in self._stations.items():
            self._schedule(descriptor, station)

    def stop_sending(self) -> None:
        """Stop sending from all hosts; arriving frames are still received and counted."""
        self._is_sending = False
        self._due.clear()
        for station in self._stations.values():
            station.nic.quiesce()

    def stop(self) -> None:
        """Make `run` return after the current iteration."""
        self._is_running = False

    def run(self) -> None:
        """Serve until `stop` is called, possibly before `run`; then receive the frames left in the sockets."""
        timer_descriptor = self._timer.fileno()
        while self._is_running:
            for descriptor, _ in self._wait():
                station = self._stations.get(descriptor)
                if station is not None:
                    self._receive(descriptor, station)
                elif descriptor == timer_descriptor:
                    self._timer.note_fired()
                elif descriptor in self._readers:
                    self._readers[descriptor]()
            self._serve_due()
        self.stop_sending()
        for descriptor, station in self._stations.items():
            self._receive_rest(descriptor, station)

    def close(self) -> None:
        """Release the loop's own descriptors."""
        self._epoll.close()
        self._timer.close()

    def _wait(self) -> list[tuple[int, int]]:
        """Sleep until there is work, and return the descriptors that are ready."""
        half_ns, due_ns = self._half_window_ns, self._next_due_ns()
        is_flowing, self._moved = half_ns > 0 and self._moved >= _FLOWING, 0
        if is_flowing:
            wake_ns = time.monotonic_ns() + 2 * half_ns
            kernel_calls.sleep_until(wake_ns if due_ns is None else min(wake_ns, due_ns + half_ns))
            return self._epoll.poll(0)
        self._timer.arm(None if due_ns is None else due_ns + half_ns)
        return self._epoll.poll()

    def _next_due_ns(self) -> int | None:
        while self._due:
            due_ns, descriptor = self._due[0]
            if self._stations[descriptor].due_ns == due_ns:
                return due_ns
            heappop(self._due)
        return None

    def _receive(self, descriptor: int, station: _Station) -> int:
        """Receive up to one burst of waiting frames and return their number."""
        frames, times_ns = station.socket.receive()
        station.nic.receive_batch(frames, times_ns)
        self._moved += len(frames)
        self._serve(descriptor, station)
        return len(frames)

    def _receive_rest(self, descriptor: int, station: _Station) -> None:
        """Receive the frames that arrived before the stop, for at most one second in case a peer keeps sending."""
        deadline_ns = time.monotonic_ns() + _REST_NS
        while self._receive(descriptor, station) and time.monotonic_ns() < deadline_ns:
            pass

    def _serve_due(self) -> None:
        now_ns = time.monotonic_ns() + self._half_window_ns
        while (due_ns := self._next_due_ns()) is not None and due_ns <= now_ns:
            _, descriptor = heappop(self._due)
            station = self._stations[descriptor]
            station.due_ns = _NEVER
            self._serve(descriptor, station)

    def _serve(self, descriptor: int, station: _Station) -> None:
        """Send the NIC's frames that are due, pass on its events and update its timer."""
        nic = station.nic
        if self._is_sending:
            departures = nic.frames_to_send(time.monotonic_ns() + self._half_window_ns)
            if departures:
                self._moved += len(departures)
                station.socket.send_batch(departures)
                self._measure(station, departures, time.monotonic_ns())
            self._schedule(descriptor, station)
        while (event := nic.next_event()) is not None:
            self._on_event(nic.address.name, event)
        if station.tap is not None and nic.programs is not None:
            while (frame_for_programs := nic.programs.next_arrived()) is not None:
                station.tap.send(frame_for_programs)

    def _measure(self, station: _Station, sent: list[tuple[int, bytes]], sent_ns: int) -> None:
        """Record how late or early frames were that were sent together; all of them count as sent at `sent_ns`."""
        late_bins = self.late_bins
        station.spacing.rate_bps = station.nic.wire_rate_bps
        for ideal_ns, frame in sent:
            late_ns = abs(sent_ns - ideal_ns)
            self.lateness.record(late_ns)
            station.spacing.record(len(frame), ideal_ns, sent_ns)
            if late_bins is not None:
                late_bins.record(sent_ns, late_ns)

    def _schedule(self, descriptor: int, station: _Station) -> None:
        due_ns = station.nic.next_timer_ns() if self._is_sending else None
        if due_ns is None:
            station.due_ns = _NEVER
        elif due_ns != station.due_ns:
            station.due_ns = due_ns
            heappush(self._due, (due_ns, descriptor))
