# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""RoCEv2 (docs/sources.md#rocev2): what its packets are made of, how frames are built and how they are read.

Built for speed: a `RoceFramer` (one per direction of a queue pair) and a `RoceDecoder` (one per NIC) remember every
header they have built or checked together with the CRC state after it, so a packet of a known flow costs one
look-up and one CRC over its changing bytes. Nothing here knows queue pairs, order or time.
"""
