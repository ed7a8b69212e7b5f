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
    """A slice, or an instant with its begin as its end. `end_ns` None: the slice was never ended."""

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
    """Every track in the order in which it is shown."""
    slices: list[Slice] = field(default_factory=list)
    counters: dict[Place, list[tuple[int, float]]] = field(default_factory=dict)

    def at(self, *place: str) -> list[Slice]:
        """The slices of the tracks with a name, which a viewer shows as one track."""
        return [each for each in self.slices if each.place == place]

    def named(self, begin: str) -> list[Slice]:
        """The slices whose names begin so."""
        return [each for each in self.slices if each.name.startswith(begin)]


def read_timeline(path: Path) -> Timeline:
    """Read a file. Events with the same time keep their order. AssertionError for events that do not fit together."""
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
        for each in packet.interned_data.debug_annotation_names:
            names[each.iid] = each.name
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
        own = open_slices.setdefault(event.track_uuid, [])
        if event.type == TrackEvent.TYPE_SLICE_END:
            own.pop().end_ns = packet.timestamp
            continue
        found = _slice(packet, place, len(own), names)
        timeline.slices.append(found)
        if not found.is_instant:
            own.append(found)
    return timeline


def _slice(packet: TracePacket, place: Place, depth: int, names: dict[int, str]) -> Slice:
    event = packet.track_event
    arguments = {}
    for each in event.debug_annotations:
        kind = each.WhichOneof("value")
        assert kind is not None
        arguments[names[each.name_iid]] = getattr(each, kind)
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
