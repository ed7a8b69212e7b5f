# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""RoCEv2 (docs/sources.md#rocev2): the parts of its packets, and building and decoding of frames.

The package is built for speed. A `RoceFramer` (one per direction of a queue pair) and a `RoceDecoder` (one per NIC)
cache the headers that they have built or checked, together with the CRC state after each header. A packet of a known
flow therefore costs one look-up and one CRC over its changing bytes. Queue pairs, packet order and timers belong to
`hosts`.
"""
