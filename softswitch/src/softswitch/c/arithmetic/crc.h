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

/* Parameters of a CRC of `bits` bits, as in catalogues of CRCs: the polynomial is without its highest term. */
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
    uint8_t order[256];      /* each byte in the order of input, reflected or not */
    uint32_t remainder[256]; /* the remainder of each byte, left-aligned */
};

void sw_crc_set(struct sw_crc *crc, unsigned bits, const struct sw_crc_parameters *parameters);
/* BMv2's initial parameters: CRC-16/ARC, CRC-32 of IEEE 802.3. */
void sw_crc_begin(struct sw_crc *crc, unsigned bits);
/* The CRC of two spans, like the hashes of hash.h. */
uint64_t sw_hash_crc(const struct sw_crc *crc, const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);

#endif /* SW_CRC_H */
