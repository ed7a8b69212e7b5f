/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * CRCs of 16 or 32 bits whose parameters are known at run time only: v1model's crc16_custom and crc32_custom, bit for
 * bit as BMv2 computes them.
 */
#ifndef SW_CRC_H
#define SW_CRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As catalogues of CRCs give them: of `bits` bits, the polynomial without its highest. */
struct sw_crc_parameters {
    uint32_t polynomial;
    uint32_t initial_value;
    uint32_t final_xor;
    bool reflects_data;
    bool reflects_result;
};

struct sw_crc {
    struct sw_crc_parameters parameters;
    unsigned bits;
    uint8_t order[256];      /* a byte as it goes in */
    uint32_t remainder[256]; /* of a byte, at the upper end */
};

void sw_crc_set(struct sw_crc *crc, unsigned bits, const struct sw_crc_parameters *parameters);
/* What BMv2 starts with: CRC-16/ARC, CRC-32 of IEEE 802.3. */
void sw_crc_begin(struct sw_crc *crc, unsigned bits);
/* Of two spans, as those of hash.h. */
uint64_t sw_hash_crc(const struct sw_crc *crc, const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);

#endif /* SW_CRC_H */
