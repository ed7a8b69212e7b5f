/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "runtime/packet_log.h"

#ifdef SW_PACKET_LOG

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/text.h"
#include "runtime/internal.h"

void sw_log_enter(struct sw_pipeline *pipeline, struct sw_packet *packet)
{
    packet->name = (struct sw_log_name){.packet = pipeline->log.packets++};
    pipeline->log.copies[packet->name.packet % SW_LOG_COUNTERS] = 0;
}

void sw_log_copy(struct sw_pipeline *pipeline, const struct sw_packet *from, struct sw_packet *copy)
{
    copy->name.packet = from->name.packet;
    copy->name.copy = ++pipeline->log.copies[from->name.packet % SW_LOG_COUNTERS];
}

/* Writes a line with the packet's name, and frees the text. */
static void write_text(struct sw_pipeline *pipeline, const struct sw_packet *packet, enum sw_log_level level,
                       struct sw_text *text)
{
    struct sw_text line = {0};

    sw_text_add(&line, "[%" PRIu64 ".%" PRIu32 "] [cxt 0] %s", packet->name.packet, packet->name.copy,
                sw_text_string(text));
    pipeline->log.write(pipeline->log.ctx, level, sw_text_string(&line));
    sw_text_free(&line);
    sw_text_free(text);
}

void sw_log(struct sw_pipeline *pipeline, const struct sw_packet *packet, enum sw_log_level level, const char *format,
            ...)
{
    struct sw_text text = {0};
    char words[1024];
    va_list arguments;

    if (!pipeline->log.write)
        return;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    sw_text_add(&text, "%s", words);
    write_text(pipeline, packet, level, &text);
}

void sw_log_message(struct sw_pipeline *pipeline, const char *format, ...)
{
    char words[1024];
    va_list arguments;

    if (!pipeline->log.write)
        return;
    va_start(arguments, format);
    vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    pipeline->log.write(pipeline->log.ctx, SW_LOG_INFO, words);
}

bool sw_log_condition(struct sw_pipeline *pipeline, const struct sw_packet *packet, bool holds, const char *text)
{
    sw_log(pipeline, packet, SW_LOG_TRACE, "%s is %s", text, holds ? "true" : "false");
    return holds;
}

/* Adds `bits` bits of a big-endian number in words, the last of which holds its lowest bits. */
static void add_hex(struct sw_text *text, const uint64_t *last, unsigned bits)
{
    unsigned n_words = (bits + 63) / 64;

    for (unsigned i = n_words; i-- > 0;) {
        unsigned part = i == n_words - 1 && bits % 64 ? bits % 64 : 64;

        sw_text_add(text, "%0*" PRIx64, (int)(2 * ((part + 7) / 8)), last[-(int)i]);
    }
}

/* Logs each element of a key, which is packed as table.h describes. */
static void log_key(struct sw_pipeline *pipeline, const struct sw_packet *packet, const struct sw_table_info *info,
                    const uint64_t *key)
{
    unsigned word = 0, left = 0;

    for (unsigned i = 0; i < info->n_keys; i++) {
        struct sw_text text = {0};
        unsigned bits = info->keys[i].bits;
        uint64_t value;

        sw_text_add(&text, "* %-20s: ", info->keys[i].name);
        if (bits > 64) {
            word += (bits + 63) / 64;
            left = 0;
            add_hex(&text, &key[word - 1], bits);
        } else {
            if (bits > left) {
                word++;
                left = 64;
            }
            left -= bits;
            value = key[word - 1] >> left;
            if (bits < 64)
                value &= (UINT64_C(1) << bits) - 1;
            add_hex(&text, &value, bits);
        }
        write_text(pipeline, packet, SW_LOG_DEBUG, &text);
    }
}

void sw_log_lookup(struct sw_pipeline *pipeline, const struct sw_packet *packet, const struct sw_table *table,
                   const uint64_t *key, const struct sw_entry *entry)
{
    if (!pipeline->log.write)
        return;
    if (key) {
        sw_log(pipeline, packet, SW_LOG_DEBUG, "Looking up key:");
        log_key(pipeline, packet, table->info, key);
    }
    if (entry->hit)
        sw_log(pipeline, packet, SW_LOG_DEBUG, "Table '%s': hit with handle %" PRIu32, table->info->name,
               (uint32_t)entry->version << 24 | entry->index);
    else
        sw_log(pipeline, packet, SW_LOG_DEBUG, "Table '%s': miss", table->info->name);
}

void sw_log_action(struct sw_pipeline *pipeline, const struct sw_packet *packet, const struct sw_entry *entry)
{
    const struct sw_action_info *action;
    struct sw_text text = {0};
    unsigned word = 0;

    if (!pipeline->log.write || entry->action == SW_NO_ACTION)
        return;
    action = &pipeline->program->actions[entry->action];
    sw_text_add(&text, "Action entry is %s - ", action->name);
    for (unsigned i = 0; i < action->n_params; i++) {
        unsigned bits = action->params[i].bits, n_words = sw_argument_words(bits);

        word += n_words;
        if (bits <= 128) {
            add_hex(&text, &entry->words[word - 1], bits);
        } else {
            const uint8_t *bytes = (const uint8_t *)&entry->words[word - n_words];

            for (unsigned at = 0; at < (bits + 7) / 8; at++)
                sw_text_add(&text, "%02x", bytes[at]);
        }
        sw_text_add(&text, ",");
    }
    write_text(pipeline, packet, SW_LOG_DEBUG, &text);
}

#endif /* SW_PACKET_LOG */
