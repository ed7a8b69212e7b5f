/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Drives a compiled switch without I/O: feeds the frames of a file repeatedly to the engine in a shared object, in
 * batches, and discards its output. Prints CPU time, which other processes on the machine hardly affect.
 */
#define _GNU_SOURCE
#include "control/control.h"
#include "harness.h"

#define MOST_FRAMES 65536u
#define BATCH 64u
#define BATCH_NS 64000

/* The functions of switch.h and control.h used here, looked up in the shared object. */
struct library {
    const struct sw_program *program;
    __typeof__(&sw_switch_create) create;
    __typeof__(&sw_switch_destroy) destroy;
    __typeof__(&sw_switch_set_output) set_output;
    __typeof__(&sw_switch_receive) receive;
    __typeof__(&sw_switch_release) release;
    __typeof__(&sw_switch_advance) advance;
    __typeof__(&sw_control_execute) execute;
};

struct frames {
    uint8_t *bytes[MOST_FRAMES];
    uint32_t lengths[MOST_FRAMES];
    uint32_t count;
};

struct sink {
    const struct library *library;
    struct sw_switch *sw;
    uint64_t left;
};

static struct library load(const char *path)
{
    void *handle = open_library(path);

    return (struct library){
        .program = find(handle, "sw_program"),
        .create = find(handle, "sw_switch_create"),
        .destroy = find(handle, "sw_switch_destroy"),
        .set_output = find(handle, "sw_switch_set_output"),
        .receive = find(handle, "sw_switch_receive"),
        .release = find(handle, "sw_switch_release"),
        .advance = find(handle, "sw_switch_advance"),
        .execute = find(handle, "sw_control_execute"),
    };
}

static void read_frames(const char *path, struct frames *frames)
{
    FILE *file = fopen(path, "rbe");
    uint8_t prefix[2];

    if (!file)
        die("cannot read frames");
    while (frames->count < MOST_FRAMES && fread(prefix, 1, 2, file) == 2) {
        uint32_t length = (uint32_t)prefix[0] | (uint32_t)prefix[1] << 8;

        frames->bytes[frames->count] = malloc(length + 1);
        if (!frames->bytes[frames->count] || fread(frames->bytes[frames->count], 1, length, file) != length)
            die("frames cut short");
        frames->lengths[frames->count++] = length;
    }
    fclose(file);
    if (!frames->count)
        die("no frames");
}

static void run_commands(const struct library *library, struct sw_switch *sw, const char *path)
{
    struct sw_text answer = {0};
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;

    if (!file)
        die("cannot read commands");
    while (getline(&line, &room, file) >= 0) {
        if (library->execute(sw, line, &answer) < 0)
            die(line);
    }
    free(line);
    free(answer.bytes);
    fclose(file);
}

static void throw_away(void *ctx, uint32_t port, int64_t due_ns, struct sw_packet *packet)
{
    struct sink *sink = ctx;

    (void)port, (void)due_ns;
    sink->left++;
    sink->library->release(sink->sw, packet);
}

/* Feed `count` frames, `BATCH` of them per instant, and return the CPU time in ns. */
static int64_t run(const struct library *library, struct sw_switch *sw, const struct frames *frames, uint32_t port,
                   uint64_t count)
{
    static int64_t time_ns;
    int64_t start_ns = cpu_ns();

    for (uint64_t done = 0; done < count;) {
        time_ns += BATCH_NS;
        for (uint32_t i = 0; i < BATCH && done < count; i++, done++) {
            uint32_t at = (uint32_t)(done % frames->count);

            library->receive(sw, port, frames->bytes[at], frames->lengths[at], time_ns);
        }
        library->advance(sw, time_ns);
    }
    return cpu_ns() - start_ns;
}

int main(int argc, char **argv)
{
    static struct frames frames;
    struct library library;
    struct sw_config config = {.seed = 1, .all_ports = true};
    struct sink sink;
    uint64_t count;
    int64_t taken_ns;

    if (argc != 6) {
        fprintf(stderr, "usage: pipeline LIBRARY COMMANDS FRAMES PORT COUNT\n");
        return 2;
    }
    library = load(argv[1]);
    read_frames(argv[3], &frames);
    count = strtoull(argv[5], NULL, 10);
    sink = (struct sink){.library = &library, .sw = library.create(library.program, &config)};
    if (!sink.sw)
        die("cannot create the switch");
    library.set_output(sink.sw, throw_away, &sink);
    run_commands(&library, sink.sw, argv[2]);
    run(&library, sink.sw, &frames, (uint32_t)atoi(argv[4]), count / 10); /* warm-up: fills caches and pools */
    sink.left = 0;
    taken_ns = run(&library, sink.sw, &frames, (uint32_t)atoi(argv[4]), count);
    printf("{\"packets\": %llu, \"left\": %llu, \"cpu_ns\": %lld}\n", (unsigned long long)count,
           (unsigned long long)sink.left, (long long)taken_ns);
    library.destroy(sink.sw);
    return EXIT_SUCCESS;
}
