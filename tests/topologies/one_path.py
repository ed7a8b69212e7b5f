# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Physics of a single path, computed link by link."""

from __future__ import annotations

from collections.abc import Sequence

from sfc_testbed.topologies.model import Link, Topology
from sfc_testbed.topologies.physics import PathPhysics
from sfc_testbed.wire.constants import DEFAULT_PAYLOAD_BYTES
from sfc_testbed.wire.roce.packets import data_frame_bytes
from sfc_testbed.wire.units import serialization_ns, two_digits


def path_physics(topology: Topology, path: Sequence[Link]) -> PathPhysics:
    """Return the physics of a path between hosts."""
    switches = {end.node for link in path for end in (link.a, link.b) if end.node in topology.switch}
    passes_ns = sum(topology.switch[name].pass_latency_ns for name in switches)
    propagation_ns = 2 * (passes_ns + sum(link.delay_ns for link in path))
    frame_bytes = data_frame_bytes(DEFAULT_PAYLOAD_BYTES, is_last=False)
    return PathPhysics(
        base_rtt_ns=two_digits(propagation_ns + sum(serialization_ns(frame_bytes, link.rate_bps) for link in path)),
        bottleneck_bps=min(link.rate_bps for link in path),
        propagation_ns=propagation_ns,
    )
