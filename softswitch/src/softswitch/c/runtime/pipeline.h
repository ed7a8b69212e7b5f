/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The interface between a generated P4 program and the switch that runs it.
 *
 * A generated file defines exactly one `const struct sw_program sw_program`; the runtime (tables, registers, hashes,
 * checksums) creates a `struct sw_pipeline` from it, one per switch; the target (v1model/) runs packets through its
 * two passes and carries out the requests that a pass leaves behind. The pipeline must know neither ports, queues,
 * clocks nor sockets.
 */
#ifndef SW_PIPELINE_H
#define SW_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arithmetic/crc.h"
#include "runtime/packet_log.h"

#define SW_PROGRAM_ABI 9u

/* v1model instance types, with BMv2's numbers. */
enum sw_instance_type {
    SW_INSTANCE_NORMAL = 0,
    SW_INSTANCE_INGRESS_CLONE = 1,
    SW_INSTANCE_EGRESS_CLONE = 2,
    SW_INSTANCE_COALESCED = 3,
    SW_INSTANCE_RECIRCULATED = 4,
    SW_INSTANCE_REPLICATION = 5,
    SW_INSTANCE_RESUBMITTED = 6,
};

/* v1model's drop port and the highest port number (bit<9>). */
#define SW_DROP_PORT 511u
#define SW_PORT_COUNT 512u
#define SW_CLASS_COUNT 8u

/* standard_metadata_t in host order; times in microseconds of the switch's clock. */
struct sw_standard_metadata {
    uint64_t ingress_global_timestamp;
    uint64_t egress_global_timestamp;
    uint64_t enq_time; /* enq_timestamp for a program with a field of more than 32 bits, which sets it itself */
    uint32_t ingress_port;
    uint32_t egress_spec;
    uint32_t egress_port;
    uint32_t instance_type;
    uint32_t packet_length;
    uint32_t enq_timestamp;
    uint32_t enq_qdepth;
    uint32_t deq_timedelta;
    uint32_t deq_qdepth;
    uint32_t mcast_grp;
    uint32_t egress_rid;
    uint32_t checksum_error;
    uint32_t parser_error;
    uint32_t priority;
    uint32_t qid;
    uint32_t egress_queue; /* of several queues of the class, the one to join; not in BMv2 */
};

/* The requests of a pass to the target. Field lists are program-wide ids; -1 preserves no field. Places are positions
 * in the P4 source as text, for drop reports. */
#define SW_STEP_LIMIT 10000u

struct sw_requests {
    bool clone;
    bool resubmit;
    bool recirculate;
    bool truncate;
    bool endless; /* the pass did not end within SW_STEP_LIMIT turns of its loops; dropped_at is a place in the loop */
    uint32_t steps; /* turns of loops that the program might not leave */
    int32_t clone_fields;
    int32_t resubmit_fields;
    int32_t recirculate_fields;
    uint32_t clone_session;
    uint32_t truncate_bytes;
    const char *branch;     /* branch of the control flow at the last node that may drop */
    const char *dropped_at; /* the last statement that marked the packet to be dropped, NULL if unknown */
    const char *dropped_in; /* ... and its branch */
};

/*
 * A packet in flight. The frame is at buffer[head, head + len); `capacity` is the size of buffer.
 * Before the parser these bytes are the whole frame, between parser and deparser the payload (the headers are in phv),
 * after the deparser the whole frame again. The target keeps SW_HEADROOM bytes before a received frame, so a deparser
 * may grow it without moving the payload. During both passes and between them `phv` points at `program->phv_bytes` of
 * 16-byte aligned memory, which is zeroed before the first pass.
 */
#define SW_HEADROOM 256u

/*
 * Bytes of a frame that are described instead of stored: `bytes` bytes of a block that the caller knows, from `start`
 * on. They stand before the last `after` bytes that are stored. Only a caller that runs switches in virtual time
 * describes payloads, since it need not carry bytes that no program reads (sw_program.reach_bytes).
 */
struct sw_tail {
    uint32_t start;
    uint16_t bytes, after;
};

/* The start of each program's PHV, which the target knows, too. */
struct sw_phv {
    union {
        struct sw_standard_metadata std;
        struct sw_phv *next_idle; /* while no packet uses the PHV */
    };
    struct sw_requests requests;
};

struct sw_packet {
    struct sw_packet *next;
    uint8_t *buffer;
    struct sw_phv *phv;
    uint32_t head;
    uint32_t len; /* bytes stored */
    struct sw_tail tail;
    uint32_t capacity;
    uint32_t parsed_bytes; /* set by the parser: header bytes removed from the front */
    int32_t grown_bytes;   /* bytes of headers that a pass made valid minus those made invalid; starts at 0 */
#ifdef SW_PACKET_LOG
    struct sw_log_name name;
#endif
};

/* The length of the frame, stored or not. */
static inline uint32_t sw_packet_bytes(const struct sw_packet *packet)
{
    return packet->len + packet->tail.bytes;
}

struct sw_pipeline;

/* ---- description of a program (names as in the P4 source, for control commands) ---- */

enum sw_match_kind {
    SW_MATCH_EXACT,
    SW_MATCH_LPM,
    SW_MATCH_TERNARY,
    SW_MATCH_RANGE,
    SW_MATCH_OPTIONAL,
};

struct sw_field_info {
    const char *name;
    uint16_t bits;
};

struct sw_key_info {
    const char *name;
    uint16_t bits;
    uint8_t kind; /* enum sw_match_kind */
};

struct sw_action_info {
    const char *name;
    const struct sw_field_info *params;
    uint16_t n_params;
};

struct sw_table_info {
    const char *name;
    const struct sw_key_info *keys;
    const uint16_t *actions; /* ids into program->actions */
    uint16_t n_keys;
    uint16_t n_actions;
    uint32_t max_entries;
    int32_t action_profile; /* id into program->profiles, -1 when direct */
    int32_t direct_counter; /* id into program->counters, -1 without */
    int32_t direct_meter;   /* id into program->meters, -1 without */
    int32_t default_action; /* id into program->actions, -1 without */
    bool default_is_const;
    bool entries_are_const;
    bool supports_timeout; /* remembers when each entry was last hit */
};

struct sw_profile_info {
    const char *name;
    uint32_t max_members;
    bool has_selector;
};

/* Registers, counters and meters. `bits` is a register's element width; 0 for the others. */
struct sw_array_info {
    const char *name;
    uint32_t count;
    uint16_t bits;
    bool is_direct;
    bool counts_bytes; /* meters: bytes rather than packets */
    uint8_t meter_rates;
};

struct sw_digest_info {
    const char *name;
    const struct sw_field_info *fields;
    uint16_t n_fields;
};

/* A calculation with crc16_custom or crc32_custom. */
struct sw_crc_info {
    const char *name;
    uint16_t bits;
};

struct sw_program {
    uint32_t abi; /* SW_PROGRAM_ABI */
    const char *name;
    size_t phv_bytes;
    uint32_t reach_bytes;   /* the most bytes from the start of a frame that a pass can read; UINT32_MAX: all */
    size_t phv_reset_bytes; /* size of validity and metadata, which come first: zeroing them resets a phv */
    const struct sw_action_info *actions;
    const struct sw_table_info *tables;
    const struct sw_profile_info *profiles;
    const struct sw_array_info *registers;
    const struct sw_array_info *counters;
    const struct sw_array_info *meters;
    const struct sw_digest_info *digests;
    const struct sw_crc_info *crcs;
    const struct sw_field_info *value_sets;
    uint16_t n_actions, n_tables, n_profiles, n_registers, n_counters, n_meters, n_digests, n_crcs, n_value_sets;

    /* Installs const entries and initial default actions; returns 0 or a negative errno. */
    int (*init)(struct sw_pipeline *pipeline);
    /* Parser, checksum verification, ingress control. */
    void (*ingress)(struct sw_pipeline *pipeline, struct sw_packet *packet);
    /* Egress control, then, unless egress_spec is the drop port, checksum update and deparser. */
    void (*egress)(struct sw_pipeline *pipeline, struct sw_packet *packet);
    /* Copies the metadata fields of a field list between packets of this program; ignores an unknown list. */
    void (*copy_fields)(int32_t field_list, const struct sw_packet *from, struct sw_packet *to);
    /* The parser alone, as BMv2 runs it on an ingress clone. */
    void (*parse)(struct sw_pipeline *pipeline, struct sw_packet *packet);
    /* Copies headers and validity but no metadata, for an egress clone. */
    void (*copy_headers)(const struct sw_packet *from, struct sw_packet *to);
};

extern const struct sw_program sw_program;

/* ---- the runtime, implemented once for all programs (pipeline.c, table*.c, stateful.c) ---- */

/* `seed` feeds the program's random() extern only. NULL when out of memory. */
struct sw_pipeline *sw_pipeline_create(const struct sw_program *program, uint64_t seed);
void sw_pipeline_destroy(struct sw_pipeline *pipeline);
/* Resets registers and counters to 0 and fills the meters; tables, profiles and rates stay. Returns a pipeline with the
 * old registers and counters, or NULL without any change when out of memory. */
struct sw_pipeline *sw_pipeline_begin_life(struct sw_pipeline *pipeline);
/* Resets tables, profiles, registers, counters and meters to their state after creation. Value sets, the random number
 * generator and the count of lost digests stay. Returns 0 or a negative errno. */
int sw_pipeline_reset(struct sw_pipeline *pipeline);
const struct sw_program *sw_pipeline_program(const struct sw_pipeline *pipeline);

/* Logs the way of every packet from now on; a program that is not built with SW_PACKET_LOG logs nothing. */
void sw_pipeline_set_log(struct sw_pipeline *pipeline, sw_log_fn write, void *ctx);

/* The clock of meters and idle timeouts in microseconds; the target sets it before each pass. */
void sw_pipeline_set_time(struct sw_pipeline *pipeline, uint64_t now_us);

/* A value of `bits` bits, big-endian, right-aligned in (bits + 7) / 8 bytes. */
struct sw_value {
    const uint8_t *bytes;
    uint16_t n_bytes;
};

/*
 * One key of an entry. exact: value; lpm: value, prefix; ternary and optional: value, mask; range: value (low), mask
 * (high).
 */
struct sw_match {
    struct sw_value value;
    struct sw_value mask;
    uint16_t prefix_bits;
};

/* Ids are indexes into the program's arrays. All return 0 (or a count) or a negative errno: -EEXIST duplicate,
 * -ENOSPC full, -EINVAL bad width, action or id, -ENOENT no such handle, -EPERM const table. A lower priority number
 * wins. */
int sw_table_add(struct sw_pipeline *p, uint16_t table, const struct sw_match *keys, uint16_t action,
                 const struct sw_value *args, int32_t priority, uint32_t *handle);
int sw_table_modify(struct sw_pipeline *p, uint16_t table, uint32_t handle, uint16_t action,
                    const struct sw_value *args);
int sw_table_delete(struct sw_pipeline *p, uint16_t table, uint32_t handle);
int sw_table_clear(struct sw_pipeline *p, uint16_t table);
int sw_table_set_default(struct sw_pipeline *p, uint16_t table, uint16_t action, const struct sw_value *args);
int64_t sw_table_count(const struct sw_pipeline *p, uint16_t table);
/* Calls `emit` for each entry with the time since its last hit or its addition; -EINVAL if the table supports no
 * timeouts. */
int sw_table_ages(const struct sw_pipeline *p, uint16_t table,
                  void (*emit)(void *ctx, uint32_t handle, uint64_t age_us), void *ctx);

/* Tables with an action profile or selector. */
int sw_profile_add_member(struct sw_pipeline *p, uint16_t profile, uint16_t action, const struct sw_value *args,
                          uint32_t *member);
int sw_profile_modify_member(struct sw_pipeline *p, uint16_t profile, uint32_t member, uint16_t action,
                             const struct sw_value *args);
int sw_profile_delete_member(struct sw_pipeline *p, uint16_t profile, uint32_t member);
int sw_profile_create_group(struct sw_pipeline *p, uint16_t profile, uint32_t *group);
int sw_profile_delete_group(struct sw_pipeline *p, uint16_t profile, uint32_t group);
int sw_profile_group_add(struct sw_pipeline *p, uint16_t profile, uint32_t group, uint32_t member);
int sw_profile_group_remove(struct sw_pipeline *p, uint16_t profile, uint32_t group, uint32_t member);
/* Returns the members of a group in rising order, and their number; -ENOENT if the group does not exist. */
int64_t sw_profile_group_members(const struct sw_pipeline *p, uint16_t profile, uint32_t group,
                                 const uint32_t **members);
int sw_table_add_indirect(struct sw_pipeline *p, uint16_t table, const struct sw_match *keys, bool is_group,
                          uint32_t member_or_group, int32_t priority, uint32_t *handle);
int sw_table_modify_indirect(struct sw_pipeline *p, uint16_t table, uint32_t handle, bool is_group,
                             uint32_t member_or_group);
int sw_table_set_default_indirect(struct sw_pipeline *p, uint16_t table, bool is_group, uint32_t member_or_group);

/* Registers: big-endian values of the element width. */
int sw_register_read(const struct sw_pipeline *p, uint16_t reg, uint32_t index, uint8_t *bytes, uint16_t n_bytes);
int sw_register_write(struct sw_pipeline *p, uint16_t reg, uint32_t index, struct sw_value value);
int sw_register_reset(struct sw_pipeline *p, uint16_t reg);

/* Counters; direct ones are indexed by entry handle. */
int sw_counter_read(const struct sw_pipeline *p, uint16_t counter, uint32_t index, uint64_t *packets, uint64_t *bytes);
int sw_counter_write(struct sw_pipeline *p, uint16_t counter, uint32_t index, uint64_t packets, uint64_t bytes);
int sw_counter_reset(struct sw_pipeline *p, uint16_t counter);

struct sw_meter_rate {
    double units_per_us; /* packets or bytes */
    uint32_t burst_units;
};

int sw_meter_set_rates(struct sw_pipeline *p, uint16_t meter, uint32_t index, const struct sw_meter_rate *rates,
                       uint8_t n_rates);
/* Removes the rates, after which every packet is green, as before the first sw_meter_set_rates. */
int sw_meter_clear_rates(struct sw_pipeline *p, uint16_t meter, uint32_t index);
/* Reads the rates in the order in which they were set; returns their number (0 if none are set) or a negative errno. */
int sw_meter_get_rates(const struct sw_pipeline *p, uint16_t meter, uint32_t index, struct sw_meter_rate *rates,
                       uint8_t most);

/* Parser value sets. As in BMv2, adding a value again or removing an absent value changes nothing, and the number of
 * values has no limit. Values are read in rising order. */
int sw_value_set_add(struct sw_pipeline *p, uint16_t set, struct sw_value value);
int sw_value_set_remove(struct sw_pipeline *p, uint16_t set, struct sw_value value);
int sw_value_set_clear(struct sw_pipeline *p, uint16_t set);
int64_t sw_value_set_count(const struct sw_pipeline *p, uint16_t set);
int sw_value_set_get(const struct sw_pipeline *p, uint16_t set, uint32_t index, uint8_t *bytes, uint16_t n_bytes);

/* Sets the parameters of a CRC until the pipeline is destroyed: neither a reset nor a power loss changes them. */
int sw_crc_configure(struct sw_pipeline *p, uint16_t crc, const struct sw_crc_parameters *parameters);

/*
 * Calls `emit` once per digest queued since the last call, in order, with its fields packed big-endian, each padded to
 * bytes.
 */
void sw_digest_drain(struct sw_pipeline *p,
                     void (*emit)(void *ctx, uint16_t digest, const uint8_t *bytes, uint32_t n_bytes), void *ctx);
/* The number of digests lost since creation because the queue was full. */
uint64_t sw_digest_lost(const struct sw_pipeline *p);

#endif /* SW_PIPELINE_H */
