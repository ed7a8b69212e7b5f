# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes tracks, slices, counters and arrows in Perfetto's trace format. This module knows nothing about networks.

Packets go to the file one by one, so memory does not grow with the number of events. Perfetto sorts events by time
when it opens the file. Events with the same time keep their order in the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import (
    CounterDescriptor,
    TracePacket,
    TrackDescriptor,
    TrackEvent,
)
from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

Argument = bool | int | float | str | None
"""A detail of an event. None: the event has no such detail."""

BYTES = "B"
"""The unit for which Perfetto chooses KiB and MiB by itself."""

_SEQUENCE = 1
"""The number of the file's only packet sequence."""
_LARGEST_INT64 = (1 << 63) - 1


class PerfettoFile:
    """A Perfetto trace under construction. Times are in ns and never negative."""

    def __init__(self, file: BinaryIO) -> None:
        self._builder = StreamingTraceProtoBuilder(file)
        self._tracks = 0
        self._argument_names: dict[str, int] = {}
        packet = self._packet()
        packet.first_packet_on_sequence = True
        packet.sequence_flags = TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        self._builder.write_packet(packet)

    def track(self, name: str, parent: int | None = None, description: str = "") -> int:
        """Add a track and return its number. Tracks appear in the order in which they were added.

        Sibling tracks with one name appear as one track, whose overlapping slices are drawn below each other.
        """
        return self._add_track(name, parent, description, None)

    def counter(self, name: str, parent: int, unit: str, description: str = "") -> int:
        """Add a track that shows a number over time and return its number."""
        kind = CounterDescriptor()
        if unit == BYTES:
            kind.unit = CounterDescriptor.UNIT_SIZE_BYTES
        else:
            kind.unit_name = unit
        return self._add_track(name, parent, description, kind)

    def begin(self, track: int, time_ns: int, name: str, arguments: Mapping[str, Argument], *, arrow: int = 0) -> None:
        """Begin a slice. `arrow`: the number of the arrow that ends here; 0: no arrow ends here."""
        packet = self._event(TrackEvent.TYPE_SLICE_BEGIN, track, time_ns)
        self._describe(packet, name, arguments)
        if arrow:
            packet.track_event.terminating_flow_ids.append(arrow)
        self._builder.write_packet(packet)

    def end(self, track: int, time_ns: int) -> None:
        """End the last slice that was begun on a track."""
        self._builder.write_packet(self._event(TrackEvent.TYPE_SLICE_END, track, time_ns))

    def instant(
        self,
        track: int,
        time_ns: int,
        name: str,
        arguments: Mapping[str, Argument],
        *,
        arrow_from: int = 0,
        arrow_to: int = 0,
    ) -> None:
        """Mark an instant. `arrow_from`, `arrow_to`: the numbers of the arrows that begin and end here, 0 for none."""
        packet = self._event(TrackEvent.TYPE_INSTANT, track, time_ns)
        self._describe(packet, name, arguments)
        if arrow_from:
            packet.track_event.flow_ids.append(arrow_from)
        if arrow_to:
            packet.track_event.terminating_flow_ids.append(arrow_to)
        self._builder.write_packet(packet)

    def count(self, track: int, time_ns: int, value: float) -> None:
        """Set a counter to a value, which holds until the counter is set again."""
        packet = self._event(TrackEvent.TYPE_COUNTER, track, time_ns)
        if isinstance(value, int) and value <= _LARGEST_INT64:
            packet.track_event.counter_value = value
        else:
            packet.track_event.double_counter_value = value
        self._builder.write_packet(packet)

    def _packet(self) -> TracePacket:
        packet = self._builder.create_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        packet.sequence_flags = TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        return packet

    def _add_track(self, name: str, parent: int | None, description: str, counter: CounterDescriptor | None) -> int:
        self._tracks += 1
        packet = self._packet()
        track = packet.track_descriptor
        track.uuid = self._tracks
        track.name = name
        track.child_ordering = TrackDescriptor.EXPLICIT
        track.sibling_order_rank = self._tracks
        if parent is not None:
            track.parent_uuid = parent
        if description:
            track.description = description
        if counter is not None:
            track.counter.CopyFrom(counter)
        self._builder.write_packet(packet)
        return self._tracks

    def _event(self, kind: int, track: int, time_ns: int) -> TracePacket:
        packet = self._packet()
        packet.timestamp = time_ns
        packet.track_event.type = kind
        packet.track_event.track_uuid = track
        return packet

    def _describe(self, packet: TracePacket, name: str, arguments: Mapping[str, Argument]) -> None:
        packet.track_event.name = name
        for key, value in arguments.items():
            if value is None:
                continue
            annotation = packet.track_event.debug_annotations.add()
            annotation.name_iid = self._argument_name(key, packet)
            if isinstance(value, bool):
                annotation.bool_value = value
            elif isinstance(value, int):
                annotation.uint_value = value
            elif isinstance(value, float):
                annotation.double_value = value
            else:
                annotation.string_value = value

    def _argument_name(self, name: str, packet: TracePacket) -> int:
        """Return the number of an argument's name. The first packet with a name also says which number the name has."""
        number = self._argument_names.get(name)
        if number is None:
            number = len(self._argument_names) + 1
            self._argument_names[name] = number
            packet.interned_data.debug_annotation_names.add(iid=number, name=name)
        return number
