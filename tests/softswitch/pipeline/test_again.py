# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the requests that a pass leaves for the target, and of the state that survives a clone or another pass."""

from __future__ import annotations

import ctypes

from tests.softswitch.pipeline.harness import DROP_PORT, Frame, Pipeline, StandardMetadata

PROGRAM = "again"


def after_ingress(pipeline: Pipeline, which: int) -> Frame:
    frame = pipeline.frame(bytes([which, 0, 0, 0]) + b"payload", port=2)
    pipeline.ingress(frame)
    return frame


def preserve(pipeline: Pipeline, field_list: int, source: Frame, to: Frame) -> None:
    to.packet.std = StandardMetadata()
    pipeline.program.copy_fields(field_list, ctypes.byref(source.packet), ctypes.byref(to.packet))


def test_plain_packet_makes_no_request(pipeline: Pipeline) -> None:
    requests = after_ingress(pipeline, 0).packet.requests
    assert not (requests.clone or requests.resubmit or requests.recirculate or requests.truncate)


def test_ingress_clone_keeps_the_fields_of_its_list(pipeline: Pipeline) -> None:
    """The clone is parsed again from the original frame; metadata outside the list is zero."""
    frame = after_ingress(pipeline, 1)
    assert (frame.packet.requests.clone, frame.packet.requests.clone_session) == (True, 5)
    clone = pipeline.frame(bytes([1, 0, 0, 0]) + b"payload")
    pipeline.program.parse(pipeline.handle, ctypes.byref(clone.packet))
    preserve(pipeline, frame.packet.requests.clone_fields, frame, clone)
    clone.packet.std.instance_type = 1
    pipeline.egress(clone, port=9)
    assert clone.bytes() == bytes([1, 0, 7, 0]) + b"payload"


def test_resubmitted_packet_sees_preserved_metadata_in_ingress(pipeline: Pipeline) -> None:
    frame = after_ingress(pipeline, 2)
    assert frame.packet.requests.resubmit
    again = pipeline.frame(bytes([2, 0, 0, 0]))
    preserve(pipeline, frame.packet.requests.resubmit_fields, frame, again)
    pipeline.ingress(again)
    pipeline.egress(again)
    assert again.bytes() == bytes([2, 7, 0, 0])


def test_recirculation_is_requested_in_egress(pipeline: Pipeline) -> None:
    """Field list 2 holds a 200-bit field, but not `kept`."""
    frame = after_ingress(pipeline, 7)
    pipeline.egress(frame)
    assert frame.packet.requests.recirculate
    again = pipeline.frame(frame.bytes())
    preserve(pipeline, frame.packet.requests.recirculate_fields, frame, again)
    pipeline.ingress(again)
    pipeline.egress(again)
    assert again.bytes() == bytes([7, 0, 0, 1]) + b"payload"


def test_dropped_packet_can_request_an_egress_clone(pipeline: Pipeline) -> None:
    """The clone gets headers and listed fields; the dropped packet is not deparsed."""
    frame = after_ingress(pipeline, 8)
    payload = frame.bytes()
    pipeline.egress(frame)
    assert frame.packet.std.egress_spec == DROP_PORT
    assert frame.packet.requests.clone
    clone = pipeline.frame(payload)
    pipeline.program.copy_headers(ctypes.byref(frame.packet), ctypes.byref(clone.packet))
    preserve(pipeline, frame.packet.requests.clone_fields, frame, clone)
    clone.packet.std.instance_type = 2
    pipeline.egress(clone, port=9)
    assert clone.bytes() == bytes([8, 0, 0x01, 0x40]) + b"payload"


def test_drop_clears_the_multicast_group(pipeline: Pipeline) -> None:
    """BMv2's mark_to_drop does the same."""
    dropped = after_ingress(pipeline, 3).packet.std
    assert (dropped.egress_spec, dropped.mcast_grp) == (DROP_PORT, 0)
    assert after_ingress(pipeline, 4).packet.std.mcast_grp == 3


def test_truncate_is_a_request_with_a_length(pipeline: Pipeline) -> None:
    """The target truncates the packet, not the pipeline."""
    requests = after_ingress(pipeline, 5).packet.requests
    assert (requests.truncate, requests.truncate_bytes) == (True, 3)


def test_removed_headers_are_reported_to_the_target(pipeline: Pipeline) -> None:
    """The pipeline reports the four removed bytes; the target owns the packet length."""
    frame = after_ingress(pipeline, 6)
    assert frame.packet.grown_bytes == -4
    pipeline.egress(frame)
    assert frame.bytes() == b"payload"
