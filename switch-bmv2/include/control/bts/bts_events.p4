// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// What happened to BTS in this switch, counted by bts_event_t.
#ifndef SFC_BTS_EVENTS_P4
#define SFC_BTS_EVENTS_P4

counter(16, CounterType.packets) bts_events;

#endif
