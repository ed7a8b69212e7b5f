/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Opens and closes a switch's process. The order of opening leaves no files or sockets behind on failure.
 */
#define _GNU_SOURCE
#include "process/process_state.h"

#include "control/control.h"
#include "process/interfaces.h"
#include "process/reception.h"
#include "traffic/telemetry.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define LEAST_FRAME_BYTES 1518u

/* Writes a one-line error. */
struct complaint {
    char *text;
    size_t bytes;
};

static const struct sw_device_ops *const drivers[] = {&sw_socket_device};

/* Inserts a departure by time. Departures of a port come in order, except those that an impaired link delays. */
static void insert(struct sw_frame_list *held, struct sw_frame *frame)
{
    struct sw_packet *before;

    if (!held->tail || held->tail->time_ns <= frame->time_ns) {
        sw_frame_list_push(held, frame);
        return;
    }
    before = &held->head->packet;
    if (held->head->time_ns > frame->time_ns) {
        frame->packet.next = before;
        held->head = frame;
        return;
    }
    while (sw_frame_of(before->next)->time_ns <= frame->time_ns)
        before = before->next;
    frame->packet.next = before->next;
    before->next = &frame->packet;
}

/* Receives a departure from the core and keeps it until it is due. */
static void hold(void *ctx, uint32_t port, int64_t due_ns, struct sw_packet *packet)
{
    struct sw_process *process = ctx;
    uint32_t index = process->device_of_port[port];
    struct sw_process_device *device = &process->devices[index];
    struct sw_frame *frame = sw_frame_of(packet);

    insert(&device->held, frame);
    if (device->held.head == frame)
        sw_index_heap_set(&process->held_due, index, due_ns);
}

static int watch(struct sw_process *process, int fd, enum sw_event_kind kind, uint32_t which)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)kind << 32 | which};

    return epoll_ctl(process->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

/* Returns the driver of an address, and the address without its scheme. */
static const struct sw_device_ops *driver_of(const char **address)
{
    for (size_t i = 0; i < sizeof(drivers) / sizeof(*drivers); i++) {
        size_t length = strlen(drivers[i]->scheme);

        if (strncmp(*address, drivers[i]->scheme, length) == 0 && (*address)[length] == ':') {
            *address += length + 1;
            return drivers[i];
        }
    }
    return &sw_packet_device;
}

static int open_device(struct sw_process *process, uint32_t index, struct complaint complaint)
{
    const struct sw_port_option *option = &process->options->ports[index];
    struct sw_process_device *device = &process->devices[index];
    const char *address = option->address;
    const struct sw_device_ops *ops = driver_of(&address);

    device->port = option->port;
    device->address = address;
    snprintf(device->name, sizeof(device->name), "%s", option->address);
    device->last_ns = INT64_MIN;
    if (ops->open(address, &device->state, complaint.text, complaint.bytes) < 0)
        return -1;
    device->ops = ops;
    process->device_of_port[option->port] = index;
    if (ops == &sw_packet_device)
        sw_interfaces_note(process, device, address);
    if (sw_switch_attach_port(process->sw, option->port, option->address) < 0 ||
        watch(process, ops->fd(device->state), SW_EVENT_DEVICE, index) < 0) {
        snprintf(complaint.text, complaint.bytes, "cannot use port %u", option->port);
        return -1;
    }
    return 0;
}

static int open_devices(struct sw_process *process, struct complaint complaint)
{
    uint32_t n = process->options->n_ports;

    process->devices = calloc(n + 1, sizeof(*process->devices));
    process->rests = calloc(SW_BURST, SW_REST_BYTES);
    if (!process->devices || !process->rests || sw_index_heap_init(&process->held_due, n + 1) < 0) {
        snprintf(complaint.text, complaint.bytes, "no memory");
        return -1;
    }
    for (uint32_t i = 0; i < SW_BURST; i++)
        process->slots[i].rest = process->rests + (size_t)i * SW_REST_BYTES;
    process->n_devices = n;
    for (uint32_t i = 0; i < n; i++) {
        if (open_device(process, i, complaint) < 0)
            return -1;
    }
    if (process->options->follows_links)
        sw_process_follow_links(process);
    return 0;
}

/* The interfaces are watched before they are opened. */
static int watch_interfaces(struct sw_process *process, struct complaint complaint)
{
    bool has_interface = false;
    int result = 0;

    for (uint32_t i = 0; i < process->options->n_ports; i++) {
        const char *address = process->options->ports[i].address;

        has_interface |= driver_of(&address) == &sw_packet_device;
    }
    if (has_interface)
        result = sw_interfaces_watch(process);
    if (has_interface && result == 0)
        result = watch(process, process->link_fd, SW_EVENT_LINKS, 0);
    if (result < 0)
        snprintf(complaint.text, complaint.bytes, "cannot follow interfaces: %s", strerror(-result));
    return result;
}

/* Some editors begin a file with it. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

static int run_command_lines(struct sw_process *process, FILE *file, struct complaint complaint)
{
    struct sw_text answer = {0};
    char *line = NULL;
    size_t room = 0;
    int result = 0;

    for (unsigned number = 1; result == 0 && getline(&line, &room, file) >= 0; number++) {
        bool has_mark = number == 1 && strncmp(line, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0;

        result = sw_control_execute(process->sw, has_mark ? line + strlen(BYTE_ORDER_MARK) : line, &answer);
        if (result < 0)
            snprintf(complaint.text, complaint.bytes, "%s:%u: %s", process->options->commands_path, number,
                     sw_text_string(&answer));
    }
    free(line);
    sw_text_free(&answer);
    return result;
}

static int run_commands(struct sw_process *process, struct complaint complaint)
{
    const char *path = process->options->commands_path;
    FILE *file;
    int result;

    if (!path)
        return 0;
    file = fopen(path, "re");
    if (!file) {
        snprintf(complaint.text, complaint.bytes, "cannot read commands '%s': %s", path, strerror(errno));
        return -1;
    }
    result = run_command_lines(process, file, complaint);
    fclose(file);
    return result;
}

static int open_signals(struct sw_process *process)
{
    struct sigaction hangup;
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    /* The end of a terminal ends the switch in order, so captures are whole; `nohup` keeps it. */
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
        sigaddset(&signals, SIGHUP);
    if (sigprocmask(SIG_BLOCK, &signals, NULL) < 0)
        return -errno;
    process->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return process->signal_fd < 0 ? -errno : watch(process, process->signal_fd, SW_EVENT_SIGNAL, 0);
}

static int open_captures(struct sw_process *process, struct complaint complaint)
{
    const struct sw_process_options *options = process->options;

    for (uint32_t i = 0; options->capture_folder && i < process->n_devices; i++) {
        process->devices[i].capture =
            sw_port_capture_open(options->capture_folder, options->ports[i].address, complaint.text, complaint.bytes);
        if (!process->devices[i].capture)
            return -1;
    }
    return 0;
}

/* Opens the file if there is a path. */
static int open_writer(const char *path, const char *what, struct sw_writer **writer, struct complaint complaint)
{
    if (!path)
        return 0;
    *writer = sw_writer_open(path);
    if (*writer)
        return 0;
    snprintf(complaint.text, complaint.bytes, "cannot write %s '%s': %s", what, path, strerror(errno));
    return -1;
}

/* Opens the parts that are visible outside the process, which must come last. */
static int open_files(struct sw_process *process, struct complaint complaint)
{
    const struct sw_process_options *options = process->options;

    if (open_writer(options->telemetry_path, "telemetry", &process->writer, complaint) < 0 ||
        open_writer(options->lateness_path, "lateness", &process->late_bins.writer, complaint) < 0 ||
        open_captures(process, complaint) < 0)
        return -1;
    if (options->control_path || options->control_fd >= 0) {
        process->control = sw_control_server_open(options->control_path, options->control_fd, process->sw,
                                                  process->epoll_fd, SW_EVENT_CONTROL);
        if (!process->control) {
            snprintf(complaint.text, complaint.bytes, "cannot listen on '%s': %s",
                     options->control_path ? options->control_path : "--control-fd", strerror(errno));
            return -1;
        }
    }
    return 0;
}

static int open_core(struct sw_process *process, const struct sw_program *program, struct complaint complaint)
{
    struct sw_config config = {.seed = process->options->seed,
                               .epoch_ns = process->options->epoch_ns,
                               .sample_ns = process->options->telemetry_path ? process->options->sample_ns : 0,
                               .link_sample_ns = process->options->link_sample_ns};

    if (!config.epoch_ns)
        config.epoch_ns = sw_read_clock(CLOCK_MONOTONIC);
    process->late_bins.epoch_ns = config.epoch_ns;
    process->late_bins.width_ns = process->options->lateness_ns;
    process->sw = sw_switch_create(program, &config);
    process->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!process->sw || process->epoll_fd < 0 || open_signals(process) < 0) {
        snprintf(complaint.text, complaint.bytes, "cannot make a switch: %s", strerror(errno));
        return -1;
    }
    /* Makes sleeps end on time: the default timer slack is 50 us. */
    prctl(PR_SET_TIMERSLACK, 1);
    sw_switch_set_output(process->sw, hold, process);
    process->log_lines = (struct sw_log_lines){process->options->logs_no_trace, process->options->flushes_log};
    if (process->options->logs)
        sw_pipeline_set_log(sw_switch_pipeline(process->sw), sw_log_lines_write, &process->log_lines);
    return 0;
}

struct sw_process *sw_process_open(const struct sw_program *program, const struct sw_process_options *options,
                                   char *error, size_t error_bytes)
{
    struct complaint complaint = {error, error_bytes};
    struct sw_process *process = calloc(1, sizeof(*process));

    if (!process) {
        snprintf(error, error_bytes, "no memory");
        return NULL;
    }
    process->options = options;
    process->epoll_fd = process->signal_fd = process->link_fd = -1;
    process->frame_bytes = LEAST_FRAME_BYTES;
    if (open_core(process, program, complaint) < 0 || watch_interfaces(process, complaint) < 0 ||
        open_devices(process, complaint) < 0 || run_commands(process, complaint) < 0 ||
        open_files(process, complaint) < 0) {
        sw_process_close(process);
        return NULL;
    }
    sw_process_do_chores(process);
    return process;
}

static int write_statistics(const struct sw_process *process)
{
    struct sw_text text = {0};
    FILE *file = fopen(process->options->statistics_path, "we");
    int result = 0;

    if (!file)
        return -errno;
    sw_switch_statistics(process->sw, &text);
    if (fprintf(file, "%s\n", sw_text_string(&text)) < 0)
        result = -EIO;
    if (fclose(file) != 0 && result == 0)
        result = -errno;
    sw_text_free(&text);
    return result;
}

/* Finishes the files of a process that ran. */
static int close_files(struct sw_process *process)
{
    int written = 0, late = 0, result = 0;

    if (process->options->statistics_path)
        result = write_statistics(process);
    if (process->writer)
        written = sw_writer_close(process->writer);
    sw_late_bins_close_bin(&process->late_bins);
    if (process->late_bins.writer)
        late = sw_writer_close(process->late_bins.writer);
    if (result == 0)
        result = written;
    if (result == 0)
        result = late;
    for (uint32_t i = 0; i < process->n_devices; i++) {
        int captured = sw_port_capture_close(process->devices[i].capture);

        if (result == 0)
            result = captured;
    }
    return result;
}

/* Removes the files of a process that never ran. */
static void drop_file(struct sw_writer *writer, const char *path)
{
    if (!writer)
        return;
    sw_writer_close(writer);
    unlink(path);
}

int sw_process_close(struct sw_process *process)
{
    int result = 0;

    sw_control_server_close(process->control);
    if (process->stops) {
        sw_switch_end_links(process->sw);
        sw_process_do_chores(process);
        result = close_files(process);
    } else {
        drop_file(process->writer, process->options->telemetry_path);
        drop_file(process->late_bins.writer, process->options->lateness_path);
        for (uint32_t i = 0; i < process->n_devices; i++)
            sw_port_capture_drop(process->devices[i].capture);
    }
    for (uint32_t i = 0; i < process->n_devices; i++) {
        if (process->devices[i].ops)
            process->devices[i].ops->close(process->devices[i].state);
    }
    free(process->devices);
    free(process->rests);
    sw_index_heap_free(&process->held_due);
    sw_switch_destroy(process->sw);
    if (process->link_fd >= 0)
        close(process->link_fd);
    if (process->signal_fd >= 0)
        close(process->signal_fd);
    if (process->epoll_fd >= 0)
        close(process->epoll_fd);
    free(process);
    return result;
}
