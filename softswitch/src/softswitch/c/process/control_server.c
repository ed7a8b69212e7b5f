/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#define _GNU_SOURCE
#include "process/control_server.h"

#include "control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define CLIENTS 16u
#define LISTENER CLIENTS
#define LINE_LIMIT (1u << 20)

struct client {
    int fd; /* -1: free */
    struct sw_text request;
    struct sw_text answer;
    size_t sent; /* bytes of the answer that were sent */
};

struct sw_control_server {
    struct sw_switch *sw;
    char *path;
    int listener, epoll_fd;
    uint32_t tag;
    struct sw_text printed;
    struct client clients[CLIENTS];
};

static int watch(struct sw_control_server *server, int operation, int fd, uint32_t which, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = (uint64_t)server->tag << 32 | which};

    return epoll_ctl(server->epoll_fd, operation, fd, &event);
}

/* Removes a socket without a listener. */
static void remove_stale(const struct sockaddr_un *address)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return;
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 && errno == ECONNREFUSED)
        unlink(address->sun_path);
    close(fd);
}

static int listen_on(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;

    if (strlen(path) >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    remove_stale(&address);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    /* Set before the socket gets its name, and regardless of the umask: whoever can connect controls the switch. */
    if (fchmod(fd, S_IRUSR | S_IWUSR) < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        listen(fd, (int)CLIENTS) < 0) {
        int error = errno;

        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static int start_listening(struct sw_control_server *server, const char *path)
{
    server->path = strdup(path);
    server->listener = server->path ? listen_on(path) : -1;
    return server->listener < 0 ? -1 : watch(server, EPOLL_CTL_ADD, server->listener, LISTENER, EPOLLIN);
}

/* Takes an inherited socket as the connection of the first client. */
static int adopt(struct sw_control_server *server, int connection)
{
    if (fcntl(connection, F_SETFL, O_NONBLOCK) < 0 || fcntl(connection, F_SETFD, FD_CLOEXEC) < 0 ||
        watch(server, EPOLL_CTL_ADD, connection, 0, EPOLLIN) < 0)
        return -1;
    server->clients[0].fd = connection;
    return 0;
}

struct sw_control_server *sw_control_server_open(const char *path, int connection, struct sw_switch *sw, int epoll_fd,
                                                 uint32_t tag)
{
    struct sw_control_server *server = calloc(1, sizeof(*server));
    int error;

    if (!server)
        return NULL;
    server->sw = sw;
    server->epoll_fd = epoll_fd;
    server->tag = tag;
    server->listener = -1;
    for (uint32_t i = 0; i < CLIENTS; i++)
        server->clients[i].fd = -1;
    if ((!path || start_listening(server, path) == 0) && (connection < 0 || adopt(server, connection) == 0))
        return server;
    error = errno;
    if (server->listener >= 0) {
        close(server->listener);
        unlink(server->path);
    }
    free(server->path);
    free(server);
    errno = error;
    return NULL;
}

static void hang_up(struct client *client)
{
    close(client->fd);
    client->fd = -1;
    client->sent = 0;
    sw_text_free(&client->request);
    sw_text_free(&client->answer);
}

static void welcome(struct sw_control_server *server)
{
    int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    uint32_t which = 0;

    if (fd < 0)
        return;
    while (which < CLIENTS && server->clients[which].fd >= 0)
        which++;
    if (which == CLIENTS || watch(server, EPOLL_CTL_ADD, fd, which, EPOLLIN) < 0) {
        close(fd);
        return;
    }
    server->clients[which].fd = fd;
}

static void answer(struct sw_control_server *server, struct client *client, const char *line)
{
    int failed = sw_control_execute(server->sw, line, &server->printed);

    if (failed) {
        sw_text_add(&client->answer, "ERROR %s\n", sw_text_string(&server->printed));
        return;
    }
    if (server->printed.length)
        sw_text_add(&client->answer, "%s\n", server->printed.bytes);
    sw_text_add(&client->answer, "OK\n");
}

/* Runs the complete lines of a request and keeps the rest. */
static void run_lines(struct sw_control_server *server, struct client *client)
{
    struct sw_text *request = &client->request;
    size_t start = 0;

    for (size_t i = 0; i < request->length; i++) {
        if (request->bytes[i] != '\n')
            continue;
        request->bytes[i] = '\0';
        answer(server, client, request->bytes + start);
        start = i + 1;
    }
    if (start) {
        memmove(request->bytes, request->bytes + start, request->length - start + 1);
        request->length -= start;
    }
}

/* Sends as much as the client accepts; false if the client has gone. */
static bool send_answer(struct sw_control_server *server, struct client *client, uint32_t which)
{
    while (client->sent < client->answer.length) {
        ssize_t sent = send(client->fd, client->answer.bytes + client->sent, client->answer.length - client->sent,
                            MSG_DONTWAIT | MSG_NOSIGNAL);

        if (sent < 0 && errno == EAGAIN)
            return watch(server, EPOLL_CTL_MOD, client->fd, which, EPOLLOUT) == 0;
        if (sent < 0)
            return false;
        client->sent += (size_t)sent;
    }
    client->sent = 0;
    sw_text_clear(&client->answer);
    return watch(server, EPOLL_CTL_MOD, client->fd, which, EPOLLIN) == 0;
}

/* Reads the available bytes; false if the client has gone or sends an overlong line. */
static bool read_request(struct sw_control_server *server, struct client *client)
{
    char bytes[4096];
    ssize_t length = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

    if (length <= 0)
        return length < 0 && errno == EAGAIN;
    sw_text_add_bytes(&client->request, bytes, (size_t)length);
    run_lines(server, client);
    return client->request.length <= LINE_LIMIT && !client->request.lost;
}

void sw_control_server_handle(struct sw_control_server *server, uint32_t which, uint32_t events)
{
    struct client *client = &server->clients[which < CLIENTS ? which : 0];

    if (which == LISTENER) {
        welcome(server);
        return;
    }
    if (which > LISTENER || client->fd < 0)
        return;
    if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) && !read_request(server, client)) {
        hang_up(client);
        return;
    }
    if (!send_answer(server, client, which))
        hang_up(client);
}

void sw_control_server_close(struct sw_control_server *server)
{
    if (!server)
        return;
    /* The file goes before the connections, so a client whose connection ends can tell this from a killed switch. */
    if (server->listener >= 0) {
        unlink(server->path);
        close(server->listener);
    }
    for (uint32_t i = 0; i < CLIENTS; i++) {
        if (server->clients[i].fd >= 0)
            hang_up(&server->clients[i]);
    }
    sw_text_free(&server->printed);
    free(server->path);
    free(server);
}
