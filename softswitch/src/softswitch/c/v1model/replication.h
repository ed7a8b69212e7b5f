/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The destinations of copies, as in BMv2's replication engine: mirroring sessions, and multicast groups of nodes with
 * ports and link aggregation groups (LAGs). This is configuration only; the target makes the copies.
 */
#ifndef SW_REPLICATION_H
#define SW_REPLICATION_H

#include "runtime/pipeline.h"

#define SW_MIRROR_SESSION_COUNT 32768u
#define SW_MULTICAST_GROUP_COUNT 65536u
#define SW_MULTICAST_NODE_COUNT 65536u
#define SW_LAG_COUNT 256u

/* A set of ports. */
struct sw_port_set {
    uint64_t words[SW_PORT_COUNT / 64];
};

static inline void sw_port_set_add(struct sw_port_set *set, uint32_t port)
{
    set->words[port / 64] |= UINT64_C(1) << (port % 64);
}

static inline bool sw_port_set_has(const struct sw_port_set *set, uint32_t port)
{
    return set->words[port / 64] >> (port % 64) & 1;
}

/* Either destination may be -1. */
struct sw_mirror_session {
    int32_t port;
    int32_t group;
    uint32_t most_bytes; /* a longer copy is cut to this length before egress; 0: no copy is cut */
    int64_t delay_ns;    /* from the request to the copy's arrival in the port's queue */
};

struct sw_multicast_node {
    bool exists;
    uint32_t rid;
    int32_t group; /* -1: in no group */
    struct sw_port_set ports;
    struct sw_port_set lags; /* by index, below SW_LAG_COUNT */
};

struct sw_multicast_group {
    bool exists;
    uint32_t *nodes; /* in the order of association */
    uint32_t n_nodes, capacity;
};

struct sw_replication {
    struct sw_mirror_session *sessions;
    struct sw_multicast_group *groups;
    struct sw_multicast_node *nodes;
    uint32_t n_sessions, n_groups, n_nodes; /* sizes of the arrays: highest index used + 1 */
    struct sw_port_set lags[SW_LAG_COUNT];
};

void sw_replication_free(struct sw_replication *replication);
/* Removes groups, nodes and members of LAGs; mirroring sessions stay. */
void sw_multicast_reset(struct sw_replication *replication);

/* All return 0 or a negative errno: -EINVAL out of range, -EEXIST, -ENOENT, -EBUSY (node is in a group), -ENOMEM. */
int sw_mirror_set(struct sw_replication *replication, uint32_t session, struct sw_mirror_session to);
int sw_mirror_delete(struct sw_replication *replication, uint32_t session);
/* Sets the delay of a session's copies to a port, also before the session exists. */
int sw_mirror_set_delay(struct sw_replication *replication, uint32_t session, int64_t delay_ns);
const struct sw_mirror_session *sw_mirror_find(const struct sw_replication *replication, uint32_t session);

int sw_multicast_create_group(struct sw_replication *replication, uint32_t group);
int sw_multicast_destroy_group(struct sw_replication *replication, uint32_t group);
int sw_multicast_create_node(struct sw_replication *replication, uint32_t rid, const struct sw_port_set *ports,
                             const struct sw_port_set *lags, uint32_t *node);
int sw_multicast_update_node(struct sw_replication *replication, uint32_t node, const struct sw_port_set *ports,
                             const struct sw_port_set *lags);
int sw_multicast_destroy_node(struct sw_replication *replication, uint32_t node);
int sw_multicast_associate(struct sw_replication *replication, uint32_t group, uint32_t node);
int sw_multicast_dissociate(struct sw_replication *replication, uint32_t group, uint32_t node);
const struct sw_multicast_group *sw_multicast_find(const struct sw_replication *replication, uint32_t group);

/* Calls `emit` for every copy: nodes in order of association, for each node its ports upwards, then one port per LAG.
 */
void sw_multicast_replicate(const struct sw_replication *replication, const struct sw_multicast_group *group,
                            void (*emit)(void *ctx, uint32_t port, uint32_t rid), void *ctx);

#endif /* SW_REPLICATION_H */
