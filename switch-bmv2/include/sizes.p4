// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Sizes of all tables and registers.
#ifndef SFC_SIZES_P4
#define SFC_SIZES_P4

#define ROUTES 4096
#define NEXT_HOPS 1024
#define PORTS 512
#define TRAFFIC_CLASSES 8
#define DSCPS 64
#define QUEUES 4096          // PORTS * TRAFFIC_CLASSES
#define DROP_COUNTERS 8192   // PORTS * 16 reasons
#define SUPPRESSION_CELLS 16384  // of each of the three rows, a power of two
#define CACHE_ENTRIES 32768      // a power of two (paper section 4, "Stateful Table Operations")
#define WATCHED_DESTINATIONS 1024
#define CACHE_RING 256           // live entries that the retirement walk can hold, a power of two

#endif
