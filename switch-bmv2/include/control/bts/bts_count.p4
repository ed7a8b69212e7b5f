// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Counts one of three events, selected by the cause of a BTS.
#ifndef SFC_BTS_COUNT_P4
#define SFC_BTS_COUNT_P4

control CountBts(in bts_cause_t cause, in bts_event_t of_queue, in bts_event_t of_cache, in bts_event_t of_estimator) {
    apply {
        if (cause == bts_cause_t.queue) {
            bts_events.count((bit<32>) (bit<EVENT_BITS>) of_queue);
        } else if (cause == bts_cause_t.cache) {
            bts_events.count((bit<32>) (bit<EVENT_BITS>) of_cache);
        } else {
            bts_events.count((bit<32>) (bit<EVENT_BITS>) of_estimator);
        }
    }
}

#endif
