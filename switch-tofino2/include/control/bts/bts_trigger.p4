// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: SFC Testbed contributors

// Decides at ingress whether to pause a data packet's sender (paper Algorithm 1, lines 7 to 13): its queue is above Q_th
// before the packet joins, its destination is in the pause cache, or the incast estimator expects a queue there. The packet
// is then mirrored unless it is suppressed.
#ifndef SFC_T2_BTS_TRIGGER_P4
#define SFC_T2_BTS_TRIGGER_P4

control BtsTrigger(inout t2_headers_t hdr, inout ingress_metadata_t meta, in PortId_t egress_port,
                   inout ingress_intrinsic_metadata_for_deparser_t ig_deparser) {
    PauseCache() pause_cache_of_flows;
    BtsCause() find_cause;
    Suppression() suppression;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) narrow;  // only a hash moves bits to a container of another width
    bit<1> was_set_0 = 0;
    bit<1> was_set_1 = 0;
    bit<1> was_set_2 = 0;

    action ingress_bts(cells_t q_th_cells, cells_t q_tg_cells) {
        meta.is_watched = 1;
        meta.q_th_cells = q_th_cells;
        meta.q_tg_cells = q_tg_cells;
    }

    action no_bts() {
        meta.is_watched = 0;
    }

    // The traffic classes whose queues are watched.
    table bts_trigger {
        key = { meta.traffic_class: exact @name("class"); }
        actions = { ingress_bts; no_bts; }
        default_action = no_bts();
        size = TRAFFIC_CLASSES;
    }

    action cache_on() {
        meta.is_caching = 1;
    }

    action cache_off() {
        meta.is_caching = 0;
    }

    table pause_cache {
        actions = { cache_on; cache_off; }
        default_action = cache_off();
        size = 1;
    }

    action find_excess() {
        meta.over_cells = meta.depth_cells |-| meta.q_th_cells;
        meta.mirror.excess_cells = meta.depth_cells |-| meta.q_tg_cells;
    }

    action want_bts(MirrorId_t session) {
        meta.session = session;
        ig_deparser.mirror_type = BTS_MIRROR;
    }

    // The mirror session to the recirculation port of this pipe, which truncates the copy to its headers.
    table bts_session {
        actions = { want_bts; NoAction; }
        default_action = NoAction();
        size = 1;
    }

    action describe() {
        meta.mirror.kind = packet_kind_t.copy_for_bts;
        meta.mirror.reserved = 0;
        meta.mirror.reserved2 = 0;
        meta.mirror.port = egress_port;
        meta.mirror.traffic_class = 5w0 ++ meta.traffic_class;
        meta.mirror.depth_cells = meta.depth_cells;
        meta.mirror.switch_id = meta.switch_id;
    }

    apply {
        pause_cache.apply();
        describe();
        meta.mirror.triggered = narrow.get({ meta.now[15:0] });
        // Only BTS of other switches are cached, since a switch knows its own queues.
        if (meta.is_caching == 1 && meta.is_own_signal == 0) {
            pause_cache_of_flows.apply(meta);
        }
        if (!hdr.bts.isValid() && !hdr.tcp_bts.isValid() && (!hdr.bth.isValid() || hdr.bth.opcode != ROCE_ACKNOWLEDGE)) {
            // Acknowledgements may share the class of data, but no sender could obey a BTS for them.
            bts_trigger.apply();
        }
        if (meta.is_watched == 1) {
            find_excess();
            find_cause.apply(meta);
        }
        if (meta.cause != bts_cause_t.none) {
            suppression.apply(meta, was_set_0, was_set_1, was_set_2);
            if (was_set_0 == 0 || was_set_1 == 0 || was_set_2 == 0) {
                bts_session.apply();
            }
        }
    }
}

#endif
