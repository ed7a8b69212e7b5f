/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "v1model/target.h"

#include <errno.h>
#include <string.h>

int sw_target_init(struct sw_target *target, const struct sw_program *program, const struct sw_config *config)
{
    memset(target, 0, sizeof(*target));
    target->program = program;
    target->epoch_ns = config->epoch_ns;
    target->now_ns = INT64_MIN;
    sw_pool_init(&target->pool, program->phv_bytes,
                 config->memory_limit ? config->memory_limit : SW_DEFAULT_MEMORY_LIMIT);
    sw_telemetry_init(&target->telemetry, config->epoch_ns, config->sample_ns);
    if (sw_tm_init(&target->tm) < 0)
        return -ENOMEM;
    for (uint32_t port = 0; config->all_ports && port < SW_RECIRCULATION_PORT; port++)
        target->tm.ports[port].has_device = true;
    target->pipeline = sw_pipeline_create(program, config->seed);
    return target->pipeline ? 0 : -ENOMEM;
}

void sw_target_free(struct sw_target *target)
{
    if (target->pipeline)
        sw_pipeline_destroy(target->pipeline);
    sw_replication_free(&target->replication);
    sw_telemetry_free(&target->telemetry);
    sw_tm_free(&target->tm);
    sw_pool_free(&target->pool);
}

void sw_target_count_drop(struct sw_target *target, uint32_t port, enum sw_drop reason)
{
    target->counters.ports[port].drops[reason]++;
}

void sw_target_drop(struct sw_target *target, struct sw_frame *frame, uint32_t port, enum sw_drop reason)
{
    sw_target_count_drop(target, port, reason);
    sw_pool_release(&target->pool, frame);
}
