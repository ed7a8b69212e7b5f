/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#include "process/telemetry_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct buffer {
    uint8_t *bytes;
    size_t used, capacity;
};

struct sw_writer {
    pthread_t thread;
    pthread_mutex_t lock; /* guards the following members; never held while writing */
    pthread_cond_t changed;
    struct buffer pending;
    bool closing;
    int error;
    int fd;
};

static int write_all(int fd, const struct buffer *buffer)
{
    size_t done = 0;

    while (done < buffer->used) {
        ssize_t written = write(fd, buffer->bytes + done, buffer->used - done);

        if (written < 0 && errno != EINTR)
            return -errno;
        done += written > 0 ? (size_t)written : 0;
    }
    return 0;
}

static void *write_loop(void *argument)
{
    const struct sched_param ordinary = {0};
    struct sw_writer *writer = argument;
    struct buffer taken = {0};

    /* Uses ordinary scheduling, so that writing yields to the switch even if the process runs in real time. */
    pthread_setschedparam(pthread_self(), SCHED_OTHER, &ordinary);
    pthread_mutex_lock(&writer->lock);
    while (writer->pending.used || !writer->closing) {
        struct buffer full = writer->pending;
        int error;

        if (!full.used) {
            pthread_cond_wait(&writer->changed, &writer->lock);
            continue;
        }
        writer->pending = (struct buffer){taken.bytes, 0, taken.capacity};
        pthread_mutex_unlock(&writer->lock);
        error = write_all(writer->fd, &full);
        taken = full;
        pthread_mutex_lock(&writer->lock);
        if (!writer->error)
            writer->error = error;
    }
    pthread_mutex_unlock(&writer->lock);
    free(taken.bytes);
    return NULL;
}

struct sw_writer *sw_writer_open(const char *path)
{
    struct sw_writer *writer = calloc(1, sizeof(*writer));
    int error;

    if (!writer)
        return NULL;
    writer->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (writer->fd < 0) {
        free(writer);
        return NULL;
    }
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    error = pthread_create(&writer->thread, NULL, write_loop, writer);
    if (error) {
        close(writer->fd);
        free(writer);
        errno = error;
        return NULL;
    }
    return writer;
}

void sw_writer_append(struct sw_writer *writer, const void *bytes, size_t n_bytes)
{
    struct buffer *pending = &writer->pending;

    pthread_mutex_lock(&writer->lock);
    if (pending->used + n_bytes > pending->capacity) {
        size_t capacity = 2 * (pending->used + n_bytes);
        uint8_t *moved = realloc(pending->bytes, capacity);

        if (moved) {
            pending->bytes = moved;
            pending->capacity = capacity;
        }
    }
    if (pending->used + n_bytes <= pending->capacity) {
        memcpy(pending->bytes + pending->used, bytes, n_bytes);
        pending->used += n_bytes;
    } else if (!writer->error) {
        writer->error = -ENOMEM;
    }
    pthread_cond_signal(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
}

int sw_writer_close(struct sw_writer *writer)
{
    int error;

    pthread_mutex_lock(&writer->lock);
    writer->closing = true;
    pthread_cond_signal(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    error = writer->error;
    if (close(writer->fd) < 0 && !error)
        error = -errno;
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->changed);
    free(writer->pending.bytes);
    free(writer);
    return error;
}
