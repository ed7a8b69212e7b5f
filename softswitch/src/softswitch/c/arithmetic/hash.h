/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * v1model's hashes and checksums, bit for bit as BMv2 computes them. Each takes two spans, the packed fields and the
 * payload (often empty), as if they were contiguous. Must know neither packets nor programs.
 */
#ifndef SW_HASH_H
#define SW_HASH_H

#include <stddef.h>
#include <stdint.h>

/* CRC-16/ARC. */
uint64_t sw_hash_crc16(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);
/* CRC-32 of IEEE 802.3. */
uint64_t sw_hash_crc32(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);
/* CRC-16/CCITT-FALSE. */
uint64_t sw_hash_crc_ccitt(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);
/* The Internet checksum (RFC 1071), complemented. */
uint64_t sw_hash_csum16(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);
/* The same of fields as words in machine byte order: the sum of the halves of all words, then its checksum. */
static inline uint64_t sw_halves(uint64_t word)
{
    return (word >> 32) + (uint32_t)word;
}

static inline uint64_t sw_csum16_of(uint64_t sum)
{
    sum = (sum >> 32) + (uint32_t)sum;
    sum = (sum >> 16) + (uint16_t)sum;
    sum = (sum >> 16) + (uint16_t)sum;
    sum = (sum >> 16) + (uint16_t)sum;
    return (uint16_t)~sum;
}
/* Exclusive or of big-endian words, the last one padded with zeros. */
uint64_t sw_hash_xor16(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);
uint64_t sw_hash_xor32(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);
/* The first eight bytes, big-endian; fewer bytes make a smaller number. */
uint64_t sw_hash_identity(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);

#endif /* SW_HASH_H */
