/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Two's-complement integers of a fixed, large width, for expressions that do not fit 128 bits. They are rare, so the
 * code is simple rather than fast. Must not know programs.
 */
#ifndef SW_WIDE_H
#define SW_WIDE_H

#include "arithmetic/bits.h"

#define SW_WIDE_LIMBS 34 /* 2176 bits: the widest field, 2048 bits, and room for carries, shifts and sign */

struct sw_wide {
    uint64_t limb[SW_WIDE_LIMBS]; /* least significant first */
};

struct sw_wide sw_wide_u(sw_u128 value);
struct sw_wide sw_wide_i(sw_i128 value);
/* From the low `bits` bits of right-aligned big-endian bytes. */
struct sw_wide sw_wide_from_bytes(const uint8_t *bytes, unsigned bits, bool is_signed);
/* From `bits` bits that start `offset` bits after p. */
struct sw_wide sw_wide_from_wire(const uint8_t *p, uint32_t offset, unsigned bits);
/* The low `bits` bits, right-aligned big-endian, in (bits + 7) / 8 bytes. */
void sw_wide_to_bytes(uint8_t *bytes, unsigned bits, struct sw_wide value);
/* The low 128 bits. */
sw_u128 sw_wide_low(struct sw_wide value);

struct sw_wide sw_wide_add(struct sw_wide a, struct sw_wide b);
struct sw_wide sw_wide_sub(struct sw_wide a, struct sw_wide b);
struct sw_wide sw_wide_mul(struct sw_wide a, struct sw_wide b);
struct sw_wide sw_wide_and(struct sw_wide a, struct sw_wide b);
struct sw_wide sw_wide_or(struct sw_wide a, struct sw_wide b);
struct sw_wide sw_wide_xor(struct sw_wide a, struct sw_wide b);
struct sw_wide sw_wide_not(struct sw_wide a);
struct sw_wide sw_wide_shl(struct sw_wide a, uint64_t distance);
struct sw_wide sw_wide_shr(struct sw_wide a, uint64_t distance); /* arithmetic */
struct sw_wide sw_wide_sign(struct sw_wide a, unsigned bits);    /* the signed value of the low bits */
struct sw_wide sw_wide_clamp(struct sw_wide a, struct sw_wide low, struct sw_wide high);
int sw_wide_compare(struct sw_wide a, struct sw_wide b); /* -1, 0, 1 */

#endif /* SW_WIDE_H */
