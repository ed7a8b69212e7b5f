/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The state of a switch, shared by the files of switch/ and control/ and hidden from users of switch.h.
 */
#ifndef SW_SWITCH_STATE_H
#define SW_SWITCH_STATE_H

#include "switch/outage.h"
#include "switch/schedule.h"
#include "switch/shadow.h"
#include "switch/switch.h"
#include "traffic/arrivals.h"
#include "v1model/target.h"

struct sw_switch {
    struct sw_target target;
    struct sw_arrivals arrivals;
    struct sw_schedule schedule;
    struct sw_outage outage;
    struct sw_lateness departure_lateness, ingress_lateness;
    struct sw_spacing spacing;
    struct sw_shadow *shadow; /* readable copy of table entries, for table_dump */
    char *port_names[SW_PORT_COUNT];
};

#endif /* SW_SWITCH_STATE_H */
