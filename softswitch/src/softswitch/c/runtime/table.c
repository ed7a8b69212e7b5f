/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Match tables: creation, freeing, and changes by the control plane. Look-ups are in table.h, key forms in table_key.c.
 *
 * A handle is built as in BMv2: the low 24 bits are the entry's index, the upper bits count how often it was reused.
 */
#include <errno.h>
#include <stdlib.h>

#include "runtime/internal.h"

#define HANDLE_INDEX(handle) ((handle) & 0xffffffu)
#define HANDLE_OF(entry) ((uint32_t)(entry)->version << 24 | (entry)->index)

static enum sw_scheme scheme_of(const struct sw_table_info *info)
{
    if (info->n_keys == 0)
        return SW_SCHEME_KEYLESS;
    enum sw_scheme scheme = SW_SCHEME_EXACT;
    for (unsigned i = 0; i < info->n_keys; i++) {
        unsigned kind = info->keys[i].kind;
        if (kind == SW_MATCH_TERNARY || kind == SW_MATCH_RANGE || kind == SW_MATCH_OPTIONAL)
            return SW_SCHEME_TERNARY;
        if (kind == SW_MATCH_LPM)
            scheme = SW_SCHEME_LPM;
    }
    return scheme;
}

static unsigned lpm_bits(const struct sw_table_info *info)
{
    for (unsigned i = 0; i < info->n_keys; i++) {
        if (info->keys[i].kind == SW_MATCH_LPM)
            return info->keys[i].bits;
    }
    return 0;
}

static unsigned most_action_words(const struct sw_program *program, const struct sw_table_info *info)
{
    unsigned most = 0;
    for (unsigned i = 0; i < info->n_actions; i++) {
        unsigned words = sw_action_words(&program->actions[info->actions[i]]);
        most = words > most ? words : most;
    }
    return most;
}

static bool allocate_index(struct sw_table *t)
{
    if (t->scheme == SW_SCHEME_KEYLESS)
        return true;
    if (t->scheme == SW_SCHEME_TERNARY) {
        t->n_ranges = (uint16_t)sw_key_ranges(t->info, NULL);
        t->order = calloc(t->capacity, sizeof(*t->order));
        t->ranges = calloc(t->n_ranges + 1u, sizeof(*t->ranges));
        if (!t->order || !t->ranges)
            return false;
        sw_key_ranges(t->info, t->ranges);
        return true;
    }
    t->slot_mask = 7;
    t->slots = calloc(t->slot_mask + 1u, sizeof(*t->slots));
    if (t->scheme == SW_SCHEME_LPM) {
        size_t lengths = lpm_bits(t->info) + 1u;
        t->prefixes = calloc(lengths, sizeof(*t->prefixes));
        t->prefix_counts = calloc(lengths, sizeof(*t->prefix_counts));
        t->prefix_masks = calloc(lengths * t->key_words, sizeof(*t->prefix_masks));
        if (!t->prefixes || !t->prefix_counts || !t->prefix_masks)
            return false;
    }
    return t->slots != NULL;
}

int sw_table_init(struct sw_table *t, const struct sw_program *program, const struct sw_table_info *info)
{
    t->info = info;
    t->scheme = scheme_of(info);
    t->capacity = info->max_entries;
    t->arg_words = (uint16_t)most_action_words(program, info);
    t->key_words = (uint16_t)sw_key_words(info);
    if (!allocate_index(t))
        return -ENOMEM;
    unsigned match_words = t->scheme == SW_SCHEME_TERNARY ? 2u * t->key_words + 2u * t->n_ranges : t->key_words + 1u;
    t->stride = (uint32_t)(sizeof(struct sw_entry) + 8u * (t->arg_words + match_words));
    t->miss = calloc(1, t->stride);
    t->entries = t->scheme == SW_SCHEME_KEYLESS ? NULL : calloc(t->capacity, t->stride);
    if (!t->miss || (!t->entries && t->scheme != SW_SCHEME_KEYLESS))
        return -ENOMEM;
    t->miss->action = SW_NO_ACTION;
    if (!info->supports_timeout)
        return 0;
    t->hit_us = calloc(t->capacity, sizeof(*t->hit_us));
    return t->hit_us ? 0 : -ENOMEM;
}

void sw_table_free(struct sw_table *t)
{
    free(t->prefixes);
    free(t->prefix_counts);
    free(t->prefix_masks);
    free(t->slots);
    free(t->order);
    free(t->ranges);
    free(t->entries);
    free(t->miss);
    free(t->hit_us);
}

/* ---- exact and LPM: the hash ---- */

static void slot_put(struct sw_table *t, struct sw_slot slot)
{
    uint32_t at = slot.hash & t->slot_mask;
    while (t->slots[at].entry)
        at = (at + 1) & t->slot_mask;
    t->slots[at] = slot;
}

/* Doubles the slots when half of them are in use: few slots with short runs stay in the caches. */
static int slot_reserve(struct sw_table *t)
{
    uint32_t n = t->slot_mask + 1;
    struct sw_slot *old = t->slots;
    if (2 * (t->count + 1) <= n)
        return 0;
    struct sw_slot *slots = calloc(2 * (size_t)n, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    t->slots = slots;
    t->slot_mask = 2 * n - 1;
    for (uint32_t at = 0; at < n; at++) {
        if (old[at].entry)
            slot_put(t, old[at]);
    }
    free(old);
    return 0;
}

static int slot_insert(struct sw_table *t, const struct sw_entry *entry)
{
    const uint64_t *key = entry->words + t->arg_words;
    if (slot_reserve(t) < 0)
        return -ENOMEM;
    slot_put(t, (struct sw_slot){sw_key_hash(key, t->key_words, key[t->key_words]), entry->index + 1});
    return 0;
}

/* Removes a slot without a tombstone (linear probing): later slots of the run move back into the hole if they may. */
static void slot_remove(struct sw_table *t, uint32_t index)
{
    const uint64_t *key = sw_table_entry(t, index)->words + t->arg_words;
    uint32_t hole = sw_key_hash(key, t->key_words, key[t->key_words]) & t->slot_mask;
    while (t->slots[hole].entry != index + 1)
        hole = (hole + 1) & t->slot_mask;
    for (uint32_t at = (hole + 1) & t->slot_mask; t->slots[at].entry; at = (at + 1) & t->slot_mask) {
        uint32_t home = t->slots[at].hash & t->slot_mask;
        if (((at - home) & t->slot_mask) < ((at - hole) & t->slot_mask))
            continue;
        t->slots[hole] = t->slots[at];
        hole = at;
    }
    t->slots[hole].entry = 0;
}

/* Counts the use of a prefix length. The first use adds it to the look-up order, the end of the last use removes it. */
static void prefix_count(struct sw_table *t, uint16_t bits, int change)
{
    t->prefix_counts[bits] += (uint32_t)change;
    bool gone = change < 0 && t->prefix_counts[bits] == 0;
    bool fresh = change > 0 && t->prefix_counts[bits] == 1;
    if (!gone && !fresh)
        return;
    t->n_prefixes = 0;
    for (unsigned length = lpm_bits(t->info) + 1u; length-- > 0;) {
        if (t->prefix_counts[length] == 0)
            continue;
        uint64_t *mask = t->prefix_masks + (size_t)t->n_prefixes * t->key_words;
        memset(mask, 0, t->key_words * sizeof(*mask));
        sw_key_prefix_mask(t->info, (uint16_t)length, mask);
        t->prefixes[t->n_prefixes++] = (uint16_t)length;
    }
}

/* ---- ternary: the order ---- */

static void order_insert(struct sw_table *t, const struct sw_entry *entry)
{
    uint32_t at = t->count;
    while (at > 0) {
        const struct sw_entry *before = sw_table_entry(t, t->order[at - 1]);
        if (before->priority < entry->priority || (before->priority == entry->priority && before->index < entry->index))
            break;
        t->order[at] = t->order[at - 1];
        at--;
    }
    t->order[at] = entry->index;
}

static void order_remove(struct sw_table *t, uint32_t index)
{
    uint32_t at = 0;
    while (t->order[at] != index)
        at++;
    memmove(&t->order[at], &t->order[at + 1], (t->count - at - 1) * sizeof(*t->order));
}

static bool is_duplicate(const struct sw_table *t, const struct sw_entry *entry)
{
    const uint64_t *key = entry->words + t->arg_words;
    if (t->scheme != SW_SCHEME_TERNARY)
        return sw_table_probe(t, key, t->key_words, key[t->key_words]) != NULL;
    size_t bytes = 8u * (2u * t->key_words + 2u * t->n_ranges);
    for (uint32_t o = 0; o < t->count; o++) {
        const struct sw_entry *other = sw_table_entry(t, t->order[o]);
        if (other->priority == entry->priority && memcmp(other->words + t->arg_words, key, bytes) == 0)
            return true;
    }
    return false;
}

/* ---- changes ---- */

static struct sw_table *table_of(struct sw_pipeline *p, uint16_t table)
{
    return table < p->program->n_tables ? &p->tables[table] : NULL;
}

static bool table_allows(const struct sw_table *t, uint16_t action)
{
    for (unsigned i = 0; i < t->info->n_actions; i++) {
        if (t->info->actions[i] == action)
            return true;
    }
    return false;
}

static bool is_locked(const struct sw_pipeline *p, const struct sw_table *t)
{
    return t->info->entries_are_const && !p->installing;
}

static struct sw_entry *entry_of(struct sw_table *t, uint32_t handle)
{
    uint32_t index = HANDLE_INDEX(handle);
    if (index >= t->capacity || !t->entries)
        return NULL;
    struct sw_entry *entry = sw_table_entry(t, index);
    return entry->used && HANDLE_OF(entry) == handle ? entry : NULL;
}

/* Returns the lowest free entry, cleared except for its version; NULL if the table is full. */
static struct sw_entry *claim_entry(struct sw_table *t)
{
    if (t->count == t->capacity)
        return NULL;
    while (sw_table_entry(t, t->first_free)->used)
        t->first_free++;
    struct sw_entry *entry = sw_table_entry(t, t->first_free);
    uint8_t version = entry->version;
    memset(entry, 0, t->stride);
    entry->version = version;
    entry->index = t->first_free;
    entry->hit = true;
    return entry;
}

/* Encodes the key into a claimed entry and links it in. */
static int add_entry(struct sw_pipeline *p, struct sw_table *t, struct sw_entry *entry, const struct sw_match *keys,
                     uint32_t *handle)
{
    uint16_t prefix = 0;
    uint64_t *key = entry->words + t->arg_words;
    int error = sw_key_encode(t, keys, key, &prefix);
    if (error)
        return error;
    if (t->scheme != SW_SCHEME_TERNARY)
        key[t->key_words] = t->scheme == SW_SCHEME_LPM ? prefix : 0;
    if (is_duplicate(t, entry))
        return -EEXIST;
    if (t->scheme == SW_SCHEME_TERNARY)
        order_insert(t, entry);
    else if (slot_insert(t, entry) < 0)
        return -ENOMEM;
    if (t->scheme == SW_SCHEME_LPM)
        prefix_count(t, prefix, 1);
    entry->used = true;
    t->count++;
    if (t->hit_us)
        t->hit_us[entry->index] = p->now_us;
    sw_direct_reset(p, t->info, entry->index);
    if (handle)
        *handle = HANDLE_OF(entry);
    return 0;
}

int sw_table_add(struct sw_pipeline *p, uint16_t table, const struct sw_match *keys, uint16_t action,
                 const struct sw_value *args, int32_t priority, uint32_t *handle)
{
    struct sw_table *t = table_of(p, table);
    if (!t || t->scheme == SW_SCHEME_KEYLESS || t->info->action_profile >= 0 || !table_allows(t, action))
        return -EINVAL;
    if (is_locked(p, t))
        return -EPERM;
    struct sw_entry *entry = claim_entry(t);
    if (!entry)
        return -ENOSPC;
    entry->action = action;
    entry->priority = priority;
    int error = sw_action_encode(entry->words, &p->program->actions[action], args);
    return error ? error : add_entry(p, t, entry, keys, handle);
}

int sw_table_add_indirect(struct sw_pipeline *p, uint16_t table, const struct sw_match *keys, bool is_group,
                          uint32_t member_or_group, int32_t priority, uint32_t *handle)
{
    struct sw_table *t = table_of(p, table);
    if (!t || t->scheme == SW_SCHEME_KEYLESS || t->info->action_profile < 0)
        return -EINVAL;
    if (is_locked(p, t))
        return -EPERM;
    struct sw_profile *profile = &p->profiles[t->info->action_profile];
    if (!sw_profile_exists(profile, is_group, member_or_group))
        return -EINVAL;
    struct sw_entry *entry = claim_entry(t);
    if (!entry)
        return -ENOSPC;
    entry->action = SW_NO_ACTION;
    entry->kind = is_group ? SW_ENTRY_GROUP : SW_ENTRY_MEMBER;
    entry->reference = member_or_group;
    entry->priority = priority;
    int error = add_entry(p, t, entry, keys, handle);
    if (error == 0)
        sw_profile_refer(profile, is_group, member_or_group, 1);
    return error;
}

int sw_table_modify(struct sw_pipeline *p, uint16_t table, uint32_t handle, uint16_t action,
                    const struct sw_value *args)
{
    struct sw_table *t = table_of(p, table);
    if (!t || t->info->action_profile >= 0 || !table_allows(t, action))
        return -EINVAL;
    if (is_locked(p, t))
        return -EPERM;
    struct sw_entry *entry = entry_of(t, handle);
    if (!entry)
        return -ENOENT;
    int error = sw_action_encode(entry->words, &p->program->actions[action], args);
    if (error == 0)
        entry->action = action;
    return error;
}

int sw_table_modify_indirect(struct sw_pipeline *p, uint16_t table, uint32_t handle, bool is_group,
                             uint32_t member_or_group)
{
    struct sw_table *t = table_of(p, table);
    if (!t || t->info->action_profile < 0)
        return -EINVAL;
    if (is_locked(p, t))
        return -EPERM;
    struct sw_entry *entry = entry_of(t, handle);
    if (!entry)
        return -ENOENT;
    struct sw_profile *profile = &p->profiles[t->info->action_profile];
    if (!sw_profile_exists(profile, is_group, member_or_group))
        return -EINVAL;
    sw_profile_refer(profile, entry->kind == SW_ENTRY_GROUP, entry->reference, -1);
    sw_profile_refer(profile, is_group, member_or_group, 1);
    entry->kind = is_group ? SW_ENTRY_GROUP : SW_ENTRY_MEMBER;
    entry->reference = member_or_group;
    return 0;
}

static void remove_entry(struct sw_pipeline *p, struct sw_table *t, struct sw_entry *entry)
{
    if (t->scheme == SW_SCHEME_TERNARY)
        order_remove(t, entry->index);
    else
        slot_remove(t, entry->index);
    if (t->scheme == SW_SCHEME_LPM)
        prefix_count(t, (uint16_t)entry->words[t->arg_words + t->key_words], -1);
    if (entry->kind != SW_ENTRY_DIRECT)
        sw_profile_refer(&p->profiles[t->info->action_profile], entry->kind == SW_ENTRY_GROUP, entry->reference, -1);
    entry->used = false;
    entry->version++;
    t->count--;
    if (entry->index < t->first_free)
        t->first_free = entry->index;
}

int sw_table_delete(struct sw_pipeline *p, uint16_t table, uint32_t handle)
{
    struct sw_table *t = table_of(p, table);
    if (!t)
        return -EINVAL;
    if (is_locked(p, t))
        return -EPERM;
    struct sw_entry *entry = entry_of(t, handle);
    if (!entry)
        return -ENOENT;
    remove_entry(p, t, entry);
    return 0;
}

static void remove_all(struct sw_pipeline *p, struct sw_table *t)
{
    for (uint32_t i = 0; t->count > 0; i++) {
        struct sw_entry *entry = sw_table_entry(t, i);
        if (entry->used)
            remove_entry(p, t, entry);
    }
}

int sw_table_clear(struct sw_pipeline *p, uint16_t table)
{
    struct sw_table *t = table_of(p, table);
    if (!t)
        return -EINVAL;
    if (is_locked(p, t))
        return -EPERM;
    remove_all(p, t);
    return 0;
}

/* A default entry of a profile holds a reference until another entry replaces it. */
static void drop_default_reference(struct sw_pipeline *p, struct sw_table *t)
{
    if (t->miss->kind != SW_ENTRY_DIRECT)
        sw_profile_refer(&p->profiles[t->info->action_profile], t->miss->kind == SW_ENTRY_GROUP, t->miss->reference,
                         -1);
}

int sw_table_set_default(struct sw_pipeline *p, uint16_t table, uint16_t action, const struct sw_value *args)
{
    struct sw_table *t = table_of(p, table);
    if (!t || !table_allows(t, action))
        return -EINVAL;
    if (t->info->default_is_const && !p->installing)
        return -EPERM;
    int error = sw_action_encode(t->miss->words, &p->program->actions[action], args);
    if (error)
        return error;
    drop_default_reference(p, t);
    t->miss->kind = SW_ENTRY_DIRECT;
    t->miss->action = action;
    return 0;
}

int sw_table_set_default_indirect(struct sw_pipeline *p, uint16_t table, bool is_group, uint32_t member_or_group)
{
    struct sw_table *t = table_of(p, table);
    if (!t || t->info->action_profile < 0)
        return -EINVAL;
    if (t->info->default_is_const && !p->installing)
        return -EPERM;
    struct sw_profile *profile = &p->profiles[t->info->action_profile];
    if (!sw_profile_exists(profile, is_group, member_or_group))
        return -EINVAL;
    drop_default_reference(p, t);
    t->miss->kind = is_group ? SW_ENTRY_GROUP : SW_ENTRY_MEMBER;
    t->miss->action = SW_NO_ACTION;
    t->miss->reference = member_or_group;
    sw_profile_refer(profile, is_group, member_or_group, 1);
    return 0;
}

void sw_table_reset(struct sw_pipeline *p, struct sw_table *t)
{
    remove_all(p, t);
    if (t->entries)
        memset(t->entries, 0, (size_t)t->capacity * t->stride); /* handles start again from 0 */
    drop_default_reference(p, t);
    t->miss->kind = SW_ENTRY_DIRECT;
    t->miss->action = SW_NO_ACTION;
}

int64_t sw_table_count(const struct sw_pipeline *p, uint16_t table)
{
    return table < p->program->n_tables ? (int64_t)p->tables[table].count : -EINVAL;
}

int sw_table_ages(const struct sw_pipeline *p, uint16_t table,
                  void (*emit)(void *ctx, uint32_t handle, uint64_t age_us), void *ctx)
{
    const struct sw_table *t = table < p->program->n_tables ? &p->tables[table] : NULL;

    if (!t || !t->hit_us)
        return -EINVAL;
    for (uint32_t i = 0, left = t->count; left > 0; i++) {
        const struct sw_entry *entry = sw_table_entry(t, i);

        if (!entry->used)
            continue;
        emit(ctx, HANDLE_OF(entry), p->now_us - t->hit_us[i]);
        left--;
    }
    return 0;
}
