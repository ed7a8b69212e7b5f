/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The log of a packet's way through the switch, with the words of BMv2's log. Only a program that is built with
 * SW_PACKET_LOG writes it; in all others SW_LOGS is false and the compiler removes every call.
 */
#ifndef SW_PACKET_LOG_H
#define SW_PACKET_LOG_H

#include <stdbool.h>
#include <stdint.h>

#ifdef SW_PACKET_LOG
#define SW_LOGS true
#else
#define SW_LOGS false
#endif

#define SW_LOG(pipeline, packet, level, ...)                                                                           \
    do {                                                                                                               \
        if (SW_LOGS)                                                                                                   \
            sw_log(pipeline, packet, level, __VA_ARGS__);                                                              \
    } while (0)

struct sw_entry;
struct sw_packet;
struct sw_pipeline;
struct sw_table;

/* The initials of BMv2's levels. */
enum sw_log_level { SW_LOG_TRACE = 'T', SW_LOG_DEBUG = 'D', SW_LOG_INFO = 'I', SW_LOG_ERROR = 'E' };

/* Receives each line, without its time and end. */
typedef void (*sw_log_fn)(void *ctx, enum sw_log_level level, const char *line);

#define SW_LOG_COUNTERS 1024u

struct sw_packet_log {
    sw_log_fn write; /* NULL: nothing is logged */
    void *ctx;
    uint64_t packets;                 /* packets that have entered the switch */
    uint32_t copies[SW_LOG_COUNTERS]; /* copies made of each recent packet, by its number */
};

/* A packet's number, and the number of this copy of it. */
struct sw_log_name {
    uint64_t packet;
    uint32_t copy;
};

/* Numbers a packet that enters the switch, or a copy of a packet. */
void sw_log_enter(struct sw_pipeline *pipeline, struct sw_packet *packet);
void sw_log_copy(struct sw_pipeline *pipeline, const struct sw_packet *from, struct sw_packet *copy);

void sw_log(struct sw_pipeline *pipeline, const struct sw_packet *packet, enum sw_log_level level, const char *format,
            ...) __attribute__((format(printf, 4, 5)));

/* Logs a line of the program's log_msg, without the packet's name as in BMv2. */
void sw_log_message(struct sw_pipeline *pipeline, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Logs `text` and the result of a condition, and returns the result. */
bool sw_log_condition(struct sw_pipeline *pipeline, const struct sw_packet *packet, bool holds, const char *text);
/* Logs a look-up: its key (NULL for a table without one), and whether an entry matched. */
void sw_log_lookup(struct sw_pipeline *pipeline, const struct sw_packet *packet, const struct sw_table *table,
                   const uint64_t *key, const struct sw_entry *entry);
/* Logs the action of an entry, with its arguments. */
void sw_log_action(struct sw_pipeline *pipeline, const struct sw_packet *packet, const struct sw_entry *entry);

#endif /* SW_PACKET_LOG_H */
