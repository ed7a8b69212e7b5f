/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 */
#define _GNU_SOURCE
#include "ports/burst.h"

#include <errno.h>
#include <net/ethernet.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

int sw_burst_receive(struct sw_burst *self, int fd, uint32_t n)
{
    int received;

    for (uint32_t i = 0; i < n; i++)
        self->messages[i].msg_hdr = (struct msghdr){.msg_iov = self->vectors[i],
                                                    .msg_iovlen = self->vectors[i][1].iov_len ? SW_BURST_PARTS : 1,
                                                    .msg_control = &self->controls[i],
                                                    .msg_controllen = sizeof(self->controls[i])};
    received = recvmmsg(fd, self->messages, n, MSG_DONTWAIT | MSG_TRUNC, NULL);
    return received < 0 ? -errno : received;
}

/* A kernel before Linux 3.14 does not say the type of a tag, which is then that of 802.1Q. */
static void note_tag(struct sw_notes *notes, const struct tpacket_auxdata *aux)
{
    if (!(aux->tp_status & TP_STATUS_VLAN_VALID))
        return;
    notes->tag = aux->tp_vlan_tci;
    notes->tag_type = aux->tp_status & TP_STATUS_VLAN_TPID_VALID ? aux->tp_vlan_tpid : ETHERTYPE_VLAN;
}

struct sw_notes sw_burst_notes(struct sw_burst *self, uint32_t i)
{
    struct msghdr *message = &self->messages[i].msg_hdr;
    struct sw_notes notes = {0};

    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
        struct tpacket_auxdata aux;
        struct timespec time;

        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS) {
            memcpy(&time, CMSG_DATA(c), sizeof(time));
            notes.realtime_ns = time.tv_sec * NS_PER_S + time.tv_nsec;
        } else if (c->cmsg_level == SOL_PACKET && c->cmsg_type == PACKET_AUXDATA) {
            memcpy(&aux, CMSG_DATA(c), sizeof(aux));
            note_tag(&notes, &aux);
        }
    }
    return notes;
}

uint32_t sw_burst_send(struct sw_burst *self, int fd, uint32_t n, int *error)
{
    uint32_t sent = 0;
    int refused = 0;

    for (uint32_t i = 0; i < n; i++)
        self->messages[i].msg_hdr = (struct msghdr){.msg_iov = self->vectors[i], .msg_iovlen = 1};
    while (sent < n && !refused) {
        int result = sendmmsg(fd, self->messages + sent, n - sent, MSG_DONTWAIT);

        if (result > 0)
            sent += (uint32_t)result;
        else if (result == 0 || errno != EINTR)
            refused = result == 0 ? EAGAIN : errno;
    }
    *error = refused;
    return sent;
}
