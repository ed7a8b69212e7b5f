/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "process/port_capture.h"

#include "process/telemetry_writer.h"
#include "traffic/packet_pool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)
#define PATH_BYTES 4096

/* The pcap format with nanosecond timestamps, in this machine's byte order; tcpdump and Wireshark read it. */
struct file_header {
    uint32_t magic;
    uint16_t major, minor;
    uint32_t zone, accuracy;
    uint32_t longest;
    uint32_t link;
};

struct record_header {
    uint32_t seconds, nanoseconds;
    uint32_t kept, length;
};

_Static_assert(sizeof(struct file_header) == 24 && sizeof(struct record_header) == 16, "pcap's file format");

static const struct file_header file_header = {
    .magic = 0xA1B23C4Du, .major = 2, .minor = 4, .longest = SW_FRAME_MAX_BYTES, .link = 1 /* Ethernet */};

static const char *const names[SW_DIRECTIONS] = {[SW_RECEIVED] = "in", [SW_SENT] = "out"};

struct capture_file {
    struct sw_writer *writer;
    char path[PATH_BYTES];
};

struct sw_port_capture {
    struct capture_file files[SW_DIRECTIONS];
    uint8_t record[sizeof(struct record_header) + SW_FRAME_MAX_BYTES]; /* one buffer, so that a kill cuts no record */
};

static int open_file(struct capture_file *file, const char *folder, const char *address, const char *name)
{
    int length = snprintf(file->path, sizeof(file->path), "%s/%s_%s.pcap", folder, address, name);

    if (length < 0 || (size_t)length >= sizeof(file->path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    file->writer = sw_writer_open(file->path);
    if (!file->writer)
        return -1;
    sw_writer_append(file->writer, &file_header, sizeof(file_header));
    return 0;
}

struct sw_port_capture *sw_port_capture_open(const char *folder, const char *address, char *error, size_t error_bytes)
{
    struct sw_port_capture *capture = calloc(1, sizeof(*capture));

    if (!capture) {
        snprintf(error, error_bytes, "no memory");
        return NULL;
    }
    for (int i = 0; i < SW_DIRECTIONS; i++) {
        if (open_file(&capture->files[i], folder, address, names[i]) == 0)
            continue;
        snprintf(error, error_bytes, "cannot write capture '%s': %s", capture->files[i].path, strerror(errno));
        sw_port_capture_drop(capture);
        return NULL;
    }
    return capture;
}

void sw_port_capture_frame(struct sw_port_capture *capture, enum sw_direction direction, int64_t realtime_ns,
                           const uint8_t *frame, uint32_t length)
{
    uint32_t kept = length < SW_FRAME_MAX_BYTES ? length : SW_FRAME_MAX_BYTES;
    struct record_header header = {.seconds = (uint32_t)(realtime_ns / NS_PER_S),
                                   .nanoseconds = (uint32_t)(realtime_ns % NS_PER_S),
                                   .kept = kept,
                                   .length = length};

    memcpy(capture->record, &header, sizeof(header));
    memcpy(capture->record + sizeof(header), frame, kept);
    sw_writer_append(capture->files[direction].writer, capture->record, sizeof(header) + kept);
}

int sw_port_capture_close(struct sw_port_capture *capture)
{
    int result = 0;

    for (int i = 0; capture && i < SW_DIRECTIONS; i++) {
        int closed = capture->files[i].writer ? sw_writer_close(capture->files[i].writer) : 0;

        if (result == 0)
            result = closed;
    }
    free(capture);
    return result;
}

void sw_port_capture_drop(struct sw_port_capture *capture)
{
    for (int i = 0; capture && i < SW_DIRECTIONS; i++) {
        if (capture->files[i].writer)
            unlink(capture->files[i].path);
    }
    sw_port_capture_close(capture);
}
