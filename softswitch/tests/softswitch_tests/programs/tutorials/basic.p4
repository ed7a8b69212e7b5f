// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors
// Routing only.
#include "frame.p4"

control Out(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }

V1Switch(Parse(), Verify(), Route(), Out(), Update(), Emit()) main;
