/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "v1model/replication.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* BMv2 gives every packet the same LAG hash. The same value here sends a copy through the same member as BMv2. */
#define LAG_HASH 0xFFu

void sw_multicast_reset(struct sw_replication *replication)
{
    for (uint32_t i = 0; i < replication->n_groups; i++)
        free(replication->groups[i].nodes);
    free(replication->groups);
    free(replication->nodes);
    replication->groups = NULL;
    replication->nodes = NULL;
    replication->n_groups = replication->n_nodes = 0;
    memset(replication->lags, 0, sizeof(replication->lags));
}

void sw_replication_free(struct sw_replication *replication)
{
    sw_multicast_reset(replication);
    free(replication->sessions);
    memset(replication, 0, sizeof(*replication));
}

/* Makes `index` a valid index of an array of `*count` elements, new elements being zero. */
static int reserve(void **array, uint32_t *count, uint32_t index, size_t unit)
{
    uint32_t grown = *count ? *count : 16;
    uint8_t *moved;

    if (index < *count)
        return 0;
    while (grown <= index)
        grown *= 2;
    moved = realloc(*array, grown * unit);
    if (!moved)
        return -ENOMEM;
    memset(moved + *count * unit, 0, (grown - *count) * unit);
    *array = moved;
    *count = grown;
    return 0;
}

/* Creates a session without a destination. */
static int reserve_session(struct sw_replication *replication, uint32_t session)
{
    void *sessions = replication->sessions;
    uint32_t known = replication->n_sessions;

    if (session >= SW_MIRROR_SESSION_COUNT)
        return -EINVAL;
    if (reserve(&sessions, &replication->n_sessions, session, sizeof(struct sw_mirror_session)) < 0)
        return -ENOMEM;
    replication->sessions = sessions;
    for (; known < replication->n_sessions; known++)
        replication->sessions[known] = (struct sw_mirror_session){.port = -1, .group = -1};
    return 0;
}

/* Sets the destination of copies from now on; the delay stays. */
static void lead(struct sw_replication *replication, uint32_t session, struct sw_mirror_session to)
{
    to.delay_ns = replication->sessions[session].delay_ns;
    replication->sessions[session] = to;
}

int sw_mirror_set(struct sw_replication *replication, uint32_t session, struct sw_mirror_session to)
{
    int refused = reserve_session(replication, session);

    if (!refused)
        lead(replication, session, to);
    return refused;
}

const struct sw_mirror_session *sw_mirror_find(const struct sw_replication *replication, uint32_t session)
{
    const struct sw_mirror_session *found;

    if (session >= replication->n_sessions)
        return NULL;
    found = &replication->sessions[session];
    return found->port < 0 && found->group < 0 ? NULL : found;
}

int sw_mirror_delete(struct sw_replication *replication, uint32_t session)
{
    if (!sw_mirror_find(replication, session))
        return -ENOENT;
    lead(replication, session, (struct sw_mirror_session){.port = -1, .group = -1});
    return 0;
}

int sw_mirror_set_delay(struct sw_replication *replication, uint32_t session, int64_t delay_ns)
{
    int refused = reserve_session(replication, session);

    if (!refused)
        replication->sessions[session].delay_ns = delay_ns;
    return refused;
}

static struct sw_multicast_group *group_at(const struct sw_replication *replication, uint32_t group)
{
    if (group >= replication->n_groups || !replication->groups[group].exists)
        return NULL;
    return &replication->groups[group];
}

static struct sw_multicast_node *node_at(const struct sw_replication *replication, uint32_t node)
{
    if (node >= replication->n_nodes || !replication->nodes[node].exists)
        return NULL;
    return &replication->nodes[node];
}

const struct sw_multicast_group *sw_multicast_find(const struct sw_replication *replication, uint32_t group)
{
    return group_at(replication, group);
}

int sw_multicast_create_group(struct sw_replication *replication, uint32_t group)
{
    void *groups = replication->groups;

    if (group >= SW_MULTICAST_GROUP_COUNT)
        return -EINVAL;
    if (group_at(replication, group))
        return -EEXIST;
    if (reserve(&groups, &replication->n_groups, group, sizeof(struct sw_multicast_group)) < 0)
        return -ENOMEM;
    replication->groups = groups;
    replication->groups[group].exists = true;
    return 0;
}

int sw_multicast_destroy_group(struct sw_replication *replication, uint32_t group)
{
    struct sw_multicast_group *found = group_at(replication, group);

    if (!found)
        return -ENOENT;
    for (uint32_t i = 0; i < found->n_nodes; i++)
        replication->nodes[found->nodes[i]].group = -1;
    free(found->nodes);
    *found = (struct sw_multicast_group){0};
    return 0;
}

int sw_multicast_create_node(struct sw_replication *replication, uint32_t rid, const struct sw_port_set *ports,
                             const struct sw_port_set *lags, uint32_t *node)
{
    void *nodes = replication->nodes;
    uint32_t handle = 0;

    while (node_at(replication, handle))
        handle++;
    if (handle >= SW_MULTICAST_NODE_COUNT || rid > UINT16_MAX)
        return -EINVAL;
    if (reserve(&nodes, &replication->n_nodes, handle, sizeof(struct sw_multicast_node)) < 0)
        return -ENOMEM;
    replication->nodes = nodes;
    replication->nodes[handle] =
        (struct sw_multicast_node){.exists = true, .rid = rid, .group = -1, .ports = *ports, .lags = *lags};
    *node = handle;
    return 0;
}

int sw_multicast_update_node(struct sw_replication *replication, uint32_t node, const struct sw_port_set *ports,
                             const struct sw_port_set *lags)
{
    struct sw_multicast_node *found = node_at(replication, node);

    if (!found)
        return -ENOENT;
    found->ports = *ports;
    found->lags = *lags;
    return 0;
}

int sw_multicast_associate(struct sw_replication *replication, uint32_t group, uint32_t node)
{
    struct sw_multicast_group *found = group_at(replication, group);
    struct sw_multicast_node *member = node_at(replication, node);
    uint32_t *nodes;

    if (!found || !member)
        return -ENOENT;
    if (member->group >= 0)
        return -EBUSY;
    if (found->n_nodes == found->capacity) {
        uint32_t capacity = found->capacity ? 2 * found->capacity : 4;

        nodes = realloc(found->nodes, capacity * sizeof(*nodes));
        if (!nodes)
            return -ENOMEM;
        found->nodes = nodes;
        found->capacity = capacity;
    }
    found->nodes[found->n_nodes++] = node;
    member->group = (int32_t)group;
    return 0;
}

int sw_multicast_dissociate(struct sw_replication *replication, uint32_t group, uint32_t node)
{
    struct sw_multicast_group *found = group_at(replication, group);
    struct sw_multicast_node *member = node_at(replication, node);
    uint32_t at = 0;

    if (!found || !member || member->group != (int32_t)group)
        return -ENOENT;
    while (found->nodes[at] != node)
        at++;
    memmove(&found->nodes[at], &found->nodes[at + 1], (found->n_nodes - at - 1) * sizeof(*found->nodes));
    found->n_nodes--;
    member->group = -1;
    return 0;
}

int sw_multicast_destroy_node(struct sw_replication *replication, uint32_t node)
{
    struct sw_multicast_node *found = node_at(replication, node);

    if (!found)
        return -ENOENT;
    if (found->group >= 0)
        sw_multicast_dissociate(replication, (uint32_t)found->group, node);
    *found = (struct sw_multicast_node){0};
    return 0;
}

/* The member of a LAG that carries the copies; -1 when it has none. */
static int32_t lag_member(const struct sw_port_set *lag)
{
    uint32_t members = 0, chosen;

    for (uint32_t port = 0; port < SW_PORT_COUNT; port++)
        members += sw_port_set_has(lag, port);
    if (!members)
        return -1;
    chosen = LAG_HASH % members;
    for (uint32_t port = 0;; port++) {
        if (sw_port_set_has(lag, port) && chosen-- == 0)
            return (int32_t)port;
    }
}

void sw_multicast_replicate(const struct sw_replication *replication, const struct sw_multicast_group *group,
                            void (*emit)(void *ctx, uint32_t port, uint32_t rid), void *ctx)
{
    for (uint32_t i = 0; i < group->n_nodes; i++) {
        const struct sw_multicast_node *node = &replication->nodes[group->nodes[i]];

        for (uint32_t word = 0; word < SW_PORT_COUNT / 64; word++) {
            for (uint64_t bits = node->ports.words[word]; bits; bits &= bits - 1)
                emit(ctx, word * 64 + (uint32_t)__builtin_ctzll(bits), node->rid);
        }
        for (uint32_t lag = 0; lag < SW_LAG_COUNT; lag++) {
            int32_t port = sw_port_set_has(&node->lags, lag) ? lag_member(&replication->lags[lag]) : -1;

            if (port >= 0)
                emit(ctx, (uint32_t)port, node->rid);
        }
    }
}
