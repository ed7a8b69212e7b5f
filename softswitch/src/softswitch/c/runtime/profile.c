/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Action profiles and selectors: members, groups and their reference counts. Generated code picks a member by hash.
 */
#include <errno.h>
#include <stdlib.h>

#include "runtime/internal.h"

int sw_profile_init(struct sw_profile *profile, const struct sw_program *program, uint16_t id)
{
    profile->info = &program->profiles[id];
    profile->capacity = profile->info->max_members ? profile->info->max_members : 1;
    for (unsigned t = 0; t < program->n_tables; t++) {
        const struct sw_table_info *table = &program->tables[t];
        if (table->action_profile != id)
            continue;
        for (unsigned i = 0; i < table->n_actions; i++) {
            unsigned words = sw_action_words(&program->actions[table->actions[i]]);
            profile->arg_words = (uint16_t)(words > profile->arg_words ? words : profile->arg_words);
        }
    }
    profile->stride = (uint32_t)(sizeof(struct sw_entry) + 8u * profile->arg_words);
    profile->members = calloc(profile->capacity, profile->stride);
    profile->references = calloc(profile->capacity, sizeof(*profile->references));
    profile->groups = calloc(profile->capacity, sizeof(*profile->groups));
    return profile->members && profile->references && profile->groups ? 0 : -ENOMEM;
}

void sw_profile_free(struct sw_profile *profile)
{
    for (uint32_t g = 0; profile->groups && g < profile->capacity; g++)
        free(profile->groups[g].members);
    free(profile->groups);
    free(profile->references);
    free(profile->members);
}

void sw_profile_reset(struct sw_profile *profile)
{
    for (uint32_t g = 0; g < profile->capacity; g++)
        free(profile->groups[g].members);
    memset(profile->groups, 0, profile->capacity * sizeof(*profile->groups));
    memset(profile->references, 0, profile->capacity * sizeof(*profile->references));
    memset(profile->members, 0, (size_t)profile->capacity * profile->stride);
}

static struct sw_entry *member_at(const struct sw_profile *profile, uint32_t member)
{
    return (struct sw_entry *)(void *)(profile->members + (size_t)member * profile->stride);
}

bool sw_profile_exists(const struct sw_profile *profile, bool is_group, uint32_t id)
{
    if (id >= profile->capacity)
        return false;
    return is_group ? profile->groups[id].used : member_at(profile, id)->used;
}

void sw_profile_refer(struct sw_profile *profile, bool is_group, uint32_t id, int change)
{
    if (is_group)
        profile->groups[id].references += (uint32_t)change;
    else
        profile->references[id] += (uint32_t)change;
}

static struct sw_profile *profile_of(struct sw_pipeline *p, uint16_t profile)
{
    return profile < p->program->n_profiles ? &p->profiles[profile] : NULL;
}

/* An action belongs to a profile if a table of that profile lists it. */
static bool profile_allows(const struct sw_program *program, uint16_t id, uint16_t action)
{
    for (unsigned t = 0; t < program->n_tables; t++) {
        const struct sw_table_info *table = &program->tables[t];
        for (unsigned i = 0; table->action_profile == id && i < table->n_actions; i++) {
            if (table->actions[i] == action)
                return true;
        }
    }
    return false;
}

int sw_profile_add_member(struct sw_pipeline *p, uint16_t profile, uint16_t action, const struct sw_value *args,
                          uint32_t *member)
{
    struct sw_profile *self = profile_of(p, profile);
    if (!self || !profile_allows(p->program, profile, action))
        return -EINVAL;
    uint32_t free_member = 0;
    while (free_member < self->capacity && member_at(self, free_member)->used)
        free_member++;
    if (free_member == self->capacity)
        return -ENOSPC;
    struct sw_entry *entry = member_at(self, free_member);
    int error = sw_action_encode(entry->words, &p->program->actions[action], args);
    if (error)
        return error;
    entry->action = action;
    entry->index = free_member;
    entry->used = true;
    self->references[free_member] = 0;
    *member = free_member;
    return 0;
}

int sw_profile_modify_member(struct sw_pipeline *p, uint16_t profile, uint32_t member, uint16_t action,
                             const struct sw_value *args)
{
    struct sw_profile *self = profile_of(p, profile);
    if (!self || !profile_allows(p->program, profile, action))
        return -EINVAL;
    if (!sw_profile_exists(self, false, member))
        return -ENOENT;
    struct sw_entry *entry = member_at(self, member);
    int error = sw_action_encode(entry->words, &p->program->actions[action], args);
    if (error == 0)
        entry->action = action;
    return error;
}

int sw_profile_delete_member(struct sw_pipeline *p, uint16_t profile, uint32_t member)
{
    struct sw_profile *self = profile_of(p, profile);
    if (!self)
        return -EINVAL;
    if (!sw_profile_exists(self, false, member))
        return -ENOENT;
    if (self->references[member] > 0)
        return -EBUSY;
    member_at(self, member)->used = false;
    return 0;
}

int sw_profile_create_group(struct sw_pipeline *p, uint16_t profile, uint32_t *group)
{
    struct sw_profile *self = profile_of(p, profile);
    if (!self || !self->info->has_selector)
        return -EINVAL;
    uint32_t id = 0;
    while (id < self->capacity && self->groups[id].used)
        id++;
    if (id == self->capacity)
        return -ENOSPC;
    self->groups[id] = (struct sw_group){.used = true};
    *group = id;
    return 0;
}

static struct sw_group *group_of(struct sw_profile *profile, uint32_t group)
{
    return profile && group < profile->capacity && profile->groups[group].used ? &profile->groups[group] : NULL;
}

int sw_profile_delete_group(struct sw_pipeline *p, uint16_t profile, uint32_t group)
{
    struct sw_profile *self = profile_of(p, profile);
    struct sw_group *g = group_of(self, group);
    if (!self)
        return -EINVAL;
    if (!g)
        return -ENOENT;
    if (g->references > 0)
        return -EBUSY;
    for (uint32_t i = 0; i < g->count; i++)
        self->references[g->members[i]]--;
    free(g->members);
    *g = (struct sw_group){0};
    return 0;
}

int sw_profile_group_add(struct sw_pipeline *p, uint16_t profile, uint32_t group, uint32_t member)
{
    struct sw_profile *self = profile_of(p, profile);
    struct sw_group *g = group_of(self, group);
    if (!self)
        return -EINVAL;
    if (!g || !sw_profile_exists(self, false, member))
        return -ENOENT;
    uint32_t at = 0;
    while (at < g->count && g->members[at] < member)
        at++;
    if (at < g->count && g->members[at] == member)
        return -EEXIST;
    uint32_t *members = realloc(g->members, (g->count + 1u) * sizeof(*members));
    if (!members)
        return -ENOMEM;
    memmove(&members[at + 1], &members[at], (g->count - at) * sizeof(*members));
    members[at] = member;
    g->members = members;
    g->count++;
    self->references[member]++;
    return 0;
}

int sw_profile_group_remove(struct sw_pipeline *p, uint16_t profile, uint32_t group, uint32_t member)
{
    struct sw_profile *self = profile_of(p, profile);
    struct sw_group *g = group_of(self, group);
    if (!self)
        return -EINVAL;
    if (!g)
        return -ENOENT;
    uint32_t at = 0;
    while (at < g->count && g->members[at] != member)
        at++;
    if (at == g->count)
        return -ENOENT;
    memmove(&g->members[at], &g->members[at + 1], (g->count - at - 1u) * sizeof(*g->members));
    g->count--;
    self->references[member]--;
    return 0;
}

int64_t sw_profile_group_members(const struct sw_pipeline *p, uint16_t profile, uint32_t group,
                                 const uint32_t **members)
{
    const struct sw_profile *self = profile < p->program->n_profiles ? &p->profiles[profile] : NULL;
    if (!self || !sw_profile_exists(self, true, group))
        return -ENOENT;
    *members = self->groups[group].members;
    return self->groups[group].count;
}
