# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads a Perfetto trace back with the `perfetto` package, as Perfetto's own trace processor does."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TracePacket, TrackEvent

Place = tuple[str, ...]
"""The names of a track's ancestors and of the track."""


@dataclass
class Slice:
    """A slice, or an instant whose end is its begin. `end_ns` is None if the slice has no end."""

    place: Place
    track: int
    depth: int
    begin_ns: int
    end_ns: int | None
    name: str
    arguments: dict[str, Any]
    arrows_from: list[int]
    arrows_to: list[int]
    is_instant: bool = False


@dataclass
class Timeline:
    """The content of a trace as a viewer shows it."""

    places: list[Place] = field(default_factory=list)
    """All tracks in display order."""
    slices: list[Slice] = field(default_factory=list)
    counters: dict[Place, list[tuple[int, float]]] = field(default_factory=dict)

    def at(self, *place: str) -> list[Slice]:
        """Return the slices of all tracks with this name, which a viewer shows as one track."""
        return [piece for piece in self.slices if piece.place == place]

    def named(self, begin: str) -> list[Slice]:
        """Return the slices whose names begin with `begin`."""
        return [piece for piece in self.slices if piece.name.startswith(begin)]


def read_timeline(path: Path) -> Timeline:
    """Read a file. Events with the same time keep their order. Raises AssertionError for inconsistent events."""
    trace = Trace()
    trace.ParseFromString(path.read_bytes())
    timeline = Timeline()
    places: dict[int, Place] = {}
    names: dict[int, str] = {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            assert track.uuid not in places
            parent = places[track.parent_uuid] if track.HasField("parent_uuid") else ()
            places[track.uuid] = (*parent, track.name)
        for annotation_name in packet.interned_data.debug_annotation_names:
            names[annotation_name.iid] = annotation_name.name
    timeline.places = list(dict.fromkeys(places.values()))
    open_slices: dict[int, list[Slice]] = {}
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    for packet in sorted(events, key=lambda packet: int(packet.timestamp)):
        assert packet.HasField("timestamp")
        event = packet.track_event
        place = places[event.track_uuid]
        if event.type == TrackEvent.TYPE_COUNTER:
            value = event.counter_value if event.HasField("counter_value") else event.double_counter_value
            timeline.counters.setdefault(place, []).append((packet.timestamp, value))
            continue
        open_on_track = open_slices.setdefault(event.track_uuid, [])
        if event.type == TrackEvent.TYPE_SLICE_END:
            open_on_track.pop().end_ns = packet.timestamp
            continue
        piece = _slice(packet, place, len(open_on_track), names)
        timeline.slices.append(piece)
        if not piece.is_instant:
            open_on_track.append(piece)
    return timeline


def _slice(packet: TracePacket, place: Place, depth: int, names: dict[int, str]) -> Slice:
    event = packet.track_event
    arguments = {}
    for annotation in event.debug_annotations:
        kind = annotation.WhichOneof("value")
        assert kind is not None
        arguments[names[annotation.name_iid]] = getattr(annotation, kind)
    is_instant = event.type == TrackEvent.TYPE_INSTANT
    return Slice(
        place=place,
        track=event.track_uuid,
        depth=depth,
        begin_ns=packet.timestamp,
        end_ns=packet.timestamp if is_instant else None,
        name=event.name,
        arguments=arguments,
        arrows_from=list(event.flow_ids),
        arrows_to=list(event.terminating_flow_ids),
        is_instant=is_instant,
    )
