/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Replays a run for its switches only: builds the same network, feeds the frames that the hosts sent at the times at
 * which they were sent, and discards the frames to hosts. Prints the CPU time of each round and a digest of all
 * departures. The digest comes from an extra round that is not timed. It is the same for the same program, entries and
 * frames.
 *
 * A file of frames, as bench/instruments/recorded.py writes it, is a sequence of (struct sw_entry, then the frame).
 */
#define _GNU_SOURCE
#include "control/control.h"
#include "harness.h"
#include "switch/fabric.h"

#include <inttypes.h>
#include <string.h>

#define MOST_SWITCHES 512u
#define DIGEST_START UINT64_C(14695981039346656037)
#define DIGEST_FACTOR UINT64_C(1099511628211)

/* The functions of switch.h, fabric.h and control.h used here, looked up in the shared object. */
struct library {
    const struct sw_program *program;
    __typeof__(&sw_switch_create) create;
    __typeof__(&sw_switch_destroy) destroy;
    __typeof__(&sw_switch_layout) layout;
    __typeof__(&sw_control_execute) execute;
    __typeof__(&sw_fabric_create) fabric_create;
    __typeof__(&sw_fabric_destroy) fabric_destroy;
    __typeof__(&sw_fabric_add) add;
    __typeof__(&sw_fabric_connect) connect;
    __typeof__(&sw_fabric_replan) replan;
    __typeof__(&sw_fabric_receive) receive;
    __typeof__(&sw_fabric_drain) drain;
    __typeof__(&sw_fabric_outbox) outbox;
};

struct network {
    struct sw_switch *switches[MOST_SWITCHES];
    uint32_t count;
    struct sw_fabric *fabric;
};

struct round {
    int64_t cpu_ns;
    uint64_t frames, departures, digest;
};

static struct library load(const char *path)
{
    void *handle = open_library(path);

    return (struct library){
        .program = find(handle, "sw_program"),
        .create = find(handle, "sw_switch_create"),
        .destroy = find(handle, "sw_switch_destroy"),
        .layout = find(handle, "sw_switch_layout"),
        .execute = find(handle, "sw_control_execute"),
        .fabric_create = find(handle, "sw_fabric_create"),
        .fabric_destroy = find(handle, "sw_fabric_destroy"),
        .add = find(handle, "sw_fabric_add"),
        .connect = find(handle, "sw_fabric_connect"),
        .replan = find(handle, "sw_fabric_replan"),
        .receive = find(handle, "sw_fabric_receive"),
        .drain = find(handle, "sw_fabric_drain"),
        .outbox = find(handle, "sw_fabric_outbox"),
    };
}

static uint8_t *read_all(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rbe");
    uint8_t *bytes;
    long end;

    if (!file || fseek(file, 0, SEEK_END) < 0 || (end = ftell(file)) <= 0 || fseek(file, 0, SEEK_SET) < 0)
        die("cannot read frames");
    *length = (size_t)end;
    bytes = malloc(*length);
    if (!bytes || fread(bytes, 1, *length, file) != *length)
        die("frames cut short");
    fclose(file);
    return bytes;
}

static void add_switch(const struct library *library, struct network *network, int64_t sample_ns)
{
    struct sw_config config = {.seed = 1, .sample_ns = sample_ns, .all_ports = true};
    struct sw_switch *sw = network->count < MOST_SWITCHES ? library->create(library->program, &config) : NULL;

    if (!sw || library->add(network->fabric, sw, library->layout()) < 0)
        die("cannot create a switch");
    network->switches[network->count++] = sw;
}

/* Apply a line of the network file: `switch SAMPLE_NS`, `link A PORT B PORT`, or a command for the latest switch. */
static void build_line(const struct library *library, struct network *network, const char *line)
{
    struct sw_text answer = {0};
    uint32_t a, port_a, b, port_b;
    int64_t sample_ns;

    if (sscanf(line, "switch %" SCNd64, &sample_ns) == 1) {
        add_switch(library, network, sample_ns);
    } else if (sscanf(line, "link %" SCNu32 " %" SCNu32 " %" SCNu32 " %" SCNu32, &a, &port_a, &b, &port_b) == 4) {
        if (library->connect(network->fabric, a, port_a, b, port_b) < 0)
            die(line);
    } else if (!network->count || library->execute(network->switches[network->count - 1], line, &answer) < 0) {
        die(line);
    }
    free(answer.bytes);
}

static void build(const struct library *library, struct network *network, const char *path)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;

    *network = (struct network){.fabric = library->fabric_create()};
    if (!file || !network->fabric)
        die("cannot read the network");
    while (getline(&line, &room, file) >= 0)
        build_line(library, network, line);
    free(line);
    fclose(file);
    library->replan(network->fabric);
}

static void tear_down(const struct library *library, struct network *network)
{
    library->fabric_destroy(network->fabric);
    for (uint32_t i = 0; i < network->count; i++)
        library->destroy(network->switches[i]);
}

static void take(struct round *round, const void *memory, size_t length)
{
    const uint8_t *bytes = memory;

    for (size_t i = 0; i < length; i++)
        round->digest = (round->digest ^ bytes[i]) * DIGEST_FACTOR;
}

static void take_departures(struct round *round, const struct sw_outbox *outbox)
{
    for (uint64_t i = 0; i < outbox->count; i++) {
        const struct sw_departure *departure = &outbox->items[i];

        take(round, &departure->due_ns, sizeof(departure->due_ns));
        take(round, &departure->index, sizeof(departure->index));
        take(round, &departure->port, sizeof(departure->port));
        take(round, outbox->bytes + departure->offset, departure->length);
    }
}

/* Read the entry at offset `at`, and return the offset of its frame. */
static size_t read_entry(struct sw_entry *entry, const uint8_t *frames, size_t at, size_t length)
{
    if (length - at < sizeof(*entry))
        die("frames cut short");
    memcpy(entry, frames + at, sizeof(*entry));
    at += sizeof(*entry);
    if ((uint64_t)entry->length > length - at)
        die("frames cut short");
    return at;
}

/* Replay all frames once through newly built switches. */
static struct round run(const struct library *library, const char *path, const uint8_t *frames, size_t length,
                        bool is_digested)
{
    struct round round = {.digest = DIGEST_START};
    struct network network;
    struct sw_entry entry;
    int64_t start_ns;

    build(library, &network, path);
    start_ns = cpu_ns();
    for (size_t at = 0; at < length; at += (size_t)entry.length) {
        at = read_entry(&entry, frames, at, length);
        round.departures += library->drain(network.fabric, entry.time_ns);
        if (is_digested)
            take_departures(&round, library->outbox(network.fabric));
        if (library->receive(network.fabric, entry.index, entry.port, frames + at, (uint32_t)entry.length,
                             entry.time_ns) < 0)
            die("a frame was refused");
        round.frames++;
    }
    round.departures += library->drain(network.fabric, SW_NEVER - 1);
    if (is_digested)
        take_departures(&round, library->outbox(network.fabric));
    round.cpu_ns = cpu_ns() - start_ns;
    tear_down(library, &network);
    return round;
}

int main(int argc, char **argv)
{
    struct library library;
    struct round round;
    uint8_t *frames;
    size_t length;

    if (argc != 5) {
        fprintf(stderr, "usage: replay LIBRARY NETWORK FRAMES ROUNDS\n");
        return 2;
    }
    library = load(argv[1]);
    frames = read_all(argv[3], &length);
    round = run(&library, argv[2], frames, length, true);
    printf("{\"frames\": %" PRIu64 ", \"departures\": %" PRIu64 ", \"digest\": \"%016" PRIx64 "\", \"cpu_ns\": [",
           round.frames, round.departures, round.digest);
    for (int i = 0, rounds = atoi(argv[4]); i < rounds; i++) {
        round = run(&library, argv[2], frames, length, false);
        printf("%s%" PRId64, i ? ", " : "", round.cpu_ns);
    }
    printf("]}\n");
    free(frames);
    return EXIT_SUCCESS;
}
