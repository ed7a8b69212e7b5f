/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The command line of a switch's process.
 */
#define _GNU_SOURCE
#include "process/process.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "common/text.h"

#define BAD_INPUT 2

static const char usage[] =
    "usage: softswitch -i PORT@IFACE [-i ...] [--commands FILE] [--control SOCKET] [--telemetry FILE]\n"
    "                  [--sample-ns N] [--epoch-ns N] [--seed N] [--statistics FILE] [--lateness FILE]\n"
    "                  [--lateness-ns N] [--window-ns N] [--pcap FOLDER] [--follow-links] [--die-with-parent]\n"
    "                  [--realtime]\n"
    "\n"
    "  -i PORT@IFACE      a port and its interface, or fd:N for an inherited message socket\n"
    "  --commands FILE    control commands to run before the first frame\n"
    "  --control SOCKET   listen for control commands on this Unix socket\n"
    "  --control-fd N     serve control commands on an inherited stream socket\n"
    "  --telemetry FILE   write queue depths as 32-byte records (c/traffic/telemetry.h)\n"
    "  --sample-ns N      telemetry interval\n"
    "  --link-sample-ns N interval of the bytes of links in the telemetry, a multiple of --sample-ns\n"
    "  --epoch-ns N       CLOCK_MONOTONIC time that is 0 for the program (default: now)\n"
    "  --seed N           seed of the program's random()\n"
    "  --statistics FILE  write counters as JSON at the end\n"
    "  --lateness FILE    write lateness over time as 24-byte records (c/process/late_bins.h)\n"
    "  --lateness-ns N    interval of the lateness records\n"
    "  --window-ns N      let frames that are due within this time leave together, at most half of it early or late\n"
    "  --pcap FOLDER      write the frames of each port to IFACE_in.pcap and IFACE_out.pcap\n"
    "  --follow-links     give each port the rate and delay that tc gives its interface, also when they change, and\n"
    "                     with a rate a depth of 64 packets a queue; commands have priority\n"
#ifdef SW_PACKET_LOG
    "  --log LEVEL        write the way of every packet to standard output; LEVEL is trace or debug\n"
    "  --log-flush        write each line of it at once\n"
#endif
    "  --die-with-parent  end when the parent process ends\n"
    "  --realtime         run with real-time priority (SCHED_RR), for less lateness on a busy machine; never spins\n"
    "\n"
    "Prints `ready` when it forwards; SIGTERM ends it.\n";

static int complain(const char *format, const char *word)
{
    char line[1200];

    snprintf(line, sizeof(line), format, word);
    fputs("softswitch: ", stderr);
    sw_text_print_line(stderr, line);
    return -1;
}

static int read_integer(const char *word, int64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoll(word, &end, 10);
    if (end == word || *end || errno || *number < 0)
        return complain("'%s' is not a number", word);
    return 0;
}

static int add_port(struct sw_process_options *options, char *word)
{
    char *at = strchr(word, '@'), *end;
    unsigned long port = strtoul(word, &end, 10);

    if (!at || end != at || end == word || !at[1])
        return complain("'%s' is not PORT@IFACE", word);
    if (port >= SW_PORT_COUNT)
        return complain("port '%s' is above 511", word);
    for (uint32_t i = 0; i < options->n_ports; i++) {
        if (options->ports[i].port == port)
            return complain("port '%s' is given twice", word);
    }
    options->ports[options->n_ports++] = (struct sw_port_option){.port = (uint32_t)port, .address = at + 1};
    return 0;
}

static int die_with_parent(void)
{
    pid_t parent = getppid();

    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return complain("%s", strerror(errno));
    if (getppid() != parent)
        return complain("%s", "the parent is gone already");
    return 0;
}

static int run_realtime(void)
{
    struct sched_param parameter = {.sched_priority = 1};

    if (sched_setscheduler(0, SCHED_RR, &parameter) < 0)
        return complain("--realtime: %s (needs CAP_SYS_NICE, and a share of real-time where control groups have them)",
                        strerror(errno));
    return 0;
}

enum option_id {
    COMMANDS = 256,
    CONTROL,
    CONTROL_FD,
    TELEMETRY,
    SAMPLE_NS,
    LINK_SAMPLE_NS,
    EPOCH_NS,
    SEED,
    STATISTICS,
    LATENESS,
    LATENESS_NS,
    WINDOW_NS,
    PCAP,
    FOLLOW_LINKS,
    LOG,
    LOG_FLUSH,
    DIE_WITH_PARENT,
    REALTIME,
    HELP
};

static const struct option long_options[] = {
    {"commands", required_argument, NULL, COMMANDS},
    {"control", required_argument, NULL, CONTROL},
    {"control-fd", required_argument, NULL, CONTROL_FD},
    {"telemetry", required_argument, NULL, TELEMETRY},
    {"sample-ns", required_argument, NULL, SAMPLE_NS},
    {"link-sample-ns", required_argument, NULL, LINK_SAMPLE_NS},
    {"epoch-ns", required_argument, NULL, EPOCH_NS},
    {"seed", required_argument, NULL, SEED},
    {"statistics", required_argument, NULL, STATISTICS},
    {"lateness", required_argument, NULL, LATENESS},
    {"lateness-ns", required_argument, NULL, LATENESS_NS},
    {"window-ns", required_argument, NULL, WINDOW_NS},
    {"pcap", required_argument, NULL, PCAP},
    {"follow-links", no_argument, NULL, FOLLOW_LINKS},
#ifdef SW_PACKET_LOG
    {"log", required_argument, NULL, LOG},
    {"log-flush", no_argument, NULL, LOG_FLUSH},
#endif
    {"die-with-parent", no_argument, NULL, DIE_WITH_PARENT},
    {"realtime", no_argument, NULL, REALTIME},
    {"help", no_argument, NULL, HELP},
    {0},
};

/* Returns 0, or -1 after an error message. */
static int take_option(struct sw_process_options *options, int id, char *word)
{
    int64_t number = 0;

    switch (id) {
    case 'i':
        return add_port(options, word);
    case COMMANDS:
        options->commands_path = word;
        return 0;
    case CONTROL:
        options->control_path = word;
        return 0;
    case CONTROL_FD:
        if (read_integer(word, &number) < 0)
            return -1;
        options->control_fd = (int)number;
        return 0;
    case TELEMETRY:
        options->telemetry_path = word;
        return 0;
    case STATISTICS:
        options->statistics_path = word;
        return 0;
    case LATENESS:
        options->lateness_path = word;
        return 0;
    case PCAP:
        options->capture_folder = word;
        return 0;
    case FOLLOW_LINKS:
        options->follows_links = true;
        return 0;
    case LOG:
        options->logs = true;
        options->logs_no_trace = strcmp(word, "debug") == 0;
        return options->logs_no_trace || strcmp(word, "trace") == 0
                   ? 0
                   : complain("log level '%s' is neither trace nor debug", word);
    case LOG_FLUSH:
        options->flushes_log = true;
        return 0;
    case LATENESS_NS:
        return read_integer(word, &options->lateness_ns);
    case WINDOW_NS:
        return read_integer(word, &options->window_ns);
    case SAMPLE_NS:
        return read_integer(word, &options->sample_ns);
    case LINK_SAMPLE_NS:
        return read_integer(word, &options->link_sample_ns);
    case EPOCH_NS:
        return read_integer(word, &options->epoch_ns);
    case SEED:
        if (read_integer(word, &number) < 0)
            return -1;
        options->seed = (uint64_t)number;
        return 0;
    case REALTIME:
        return run_realtime();
    default:
        return die_with_parent();
    }
}

static int read_options(struct sw_process_options *options, int argc, char **argv)
{
    int id;

    while ((id = getopt_long(argc, argv, "i:", long_options, NULL)) != -1) {
        if (id == HELP) {
            fputs(usage, stdout);
            exit(EXIT_SUCCESS);
        }
        if (id == '?' || take_option(options, id, optarg) < 0)
            return -1;
    }
    if (optind < argc)
        return complain("unexpected argument '%s'", argv[optind]);
    /* With a controller, a switch needs no port, as on BMv2. */
    if (!options->n_ports && !options->control_path && options->control_fd < 0)
        return complain("%s", "no port: give -i PORT@IFACE");
    if (options->telemetry_path && !options->sample_ns)
        return complain("%s", "--telemetry needs --sample-ns above 0");
    if (options->link_sample_ns < 0 ||
        (options->link_sample_ns && (!options->sample_ns || options->link_sample_ns % options->sample_ns)))
        return complain("%s", "--link-sample-ns is not a multiple of --sample-ns");
    if (options->lateness_path && !options->lateness_ns)
        return complain("%s", "--lateness needs --lateness-ns above 0");
    return 0;
}

static int forward(const struct sw_process_options *options)
{
    char error[1024];
    struct sw_process *process = sw_process_open(&sw_program, options, error, sizeof(error));
    int result;

    if (!process) {
        complain("%s", error);
        return BAD_INPUT;
    }
    puts("ready");
    fflush(stdout);
    sw_process_run(process);
    result = sw_process_close(process);
    if (result < 0) {
        complain("could not write its files: %s", strerror(-result));
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct sw_process_options options = {.control_fd = -1};
    int result = BAD_INPUT;

    signal(SIGXFSZ, SIG_IGN); /* a file at its size limit is reported as an error instead of killing the process */
    options.ports = calloc((size_t)argc, sizeof(*options.ports));
    if (!options.ports)
        return EXIT_FAILURE;
    if (read_options(&options, argc, argv) == 0)
        result = forward(&options);
    free(options.ports);
    return result;
}
