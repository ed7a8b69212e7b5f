/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * A switch as a process: devices, clock, schedule, control socket and telemetry file around the sans-IO core.
 */
#ifndef SW_PROCESS_H
#define SW_PROCESS_H

#include "runtime/pipeline.h"
#include "switch/switch.h"

struct sw_port_option {
    uint32_t port;
    const char *address; /* IFACE or scheme:rest, see ports.h */
};

struct sw_process_options {
    struct sw_port_option *ports;
    uint32_t n_ports;
    const char *commands_path; /* NULL: none; the same holds for the following paths */
    const char *control_path;
    int control_fd; /* an inherited connection for control commands; -1: none */
    const char *telemetry_path;
    const char *lateness_path;
    const char *capture_folder;
    const char *statistics_path; /* written at the end */
    int64_t epoch_ns;            /* CLOCK_MONOTONIC; 0: when the process starts */
    int64_t sample_ns;
    int64_t link_sample_ns;
    int64_t lateness_ns; /* interval of the lateness records */
    int64_t window_ns;   /* frames that are due within this time may leave together, see process_loop.c */
    uint64_t seed;
    bool logs; /* the way of every packet is written to standard output, see packet_log.h */
    bool logs_no_trace, flushes_log;
    bool follows_links; /* ports have the rate and delay that `tc` gives their interfaces */
};

struct sw_process;

/* Opens devices and files and runs the commands file. Returns NULL with one line in `error` on failure and then leaves
 * no files or sockets behind. SIGTERM, SIGINT and SIGHUP are blocked from here on and end sw_process_run; SIGHUP
 * remains ignored if it was. */
struct sw_process *sw_process_open(const struct sw_program *program, const struct sw_process_options *options,
                                   char *error, size_t error_bytes);

/* Forwards until SIGTERM, SIGINT or SIGHUP. */
void sw_process_run(struct sw_process *process);

/* Writes remaining data to files and frees everything; returns 0 or the negative errno of a file. */
int sw_process_close(struct sw_process *process);

#endif /* SW_PROCESS_H */
