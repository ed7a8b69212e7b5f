// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Sizes and units of this chip. Sizes that both programs have are in switch-bmv2/include/sizes.p4.
#ifndef SFC_T2_SIZES_P4
#define SFC_T2_SIZES_P4

// Entries of the pause cache. The compiler's command line may set the number of bits (docs/targets/tofino2.md).
#ifndef CACHE_BITS
#define CACHE_BITS 15
#endif
#define T2_CACHE_ENTRIES (1 << CACHE_BITS)

// Queues of the chip: those of each of its four pipes have numbers of 11 bits. And the entries (port, class) that name one.
#define QUEUE_NUMBER_BITS 13
#define QUEUE_NUMBERS (1 << QUEUE_NUMBER_BITS)
#define WATCHED_QUEUES 4096

// Members of an ECMP group, to which the control plane maps the next hops.
#define SLOT_BITS 6
#define SLOTS 4096

// Destinations that the estimator watches.
#define WATCHED_BITS 12
#define WATCHED (1 << WATCHED_BITS)

// A number of cells of 176 B, and a time in ticks of 256 ns.
typedef bit<32> cells_t;
typedef bit<32> ticks_t;

// The codes of a port's rate, for 25, 50, 100, 200 and 400 Gb/s.
typedef bit<3> rate_code_t;
const rate_code_t RATE_25G = 1;
const rate_code_t RATE_50G = 2;
const rate_code_t RATE_100G = 3;
const rate_code_t RATE_200G = 4;
const rate_code_t RATE_400G = 5;

// The type of mirror copies that become a BTS.
const bit<4> BTS_MIRROR = 1;

// Pauses of whole microseconds whose quanta fit into a pause frame at 25 Gb/s.
#define QUANTA_ENTRIES 8192

#endif
