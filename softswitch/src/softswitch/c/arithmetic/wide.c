/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Arithmetic on integers beyond 128 bits, see wide.h.
 */
#include "arithmetic/wide.h"

#define LIMBS SW_WIDE_LIMBS

struct sw_wide sw_wide_u(sw_u128 value)
{
    return (struct sw_wide){{(uint64_t)value, (uint64_t)(value >> 64)}};
}

struct sw_wide sw_wide_i(sw_i128 value)
{
    struct sw_wide result = sw_wide_u((sw_u128)value);
    for (unsigned i = 2; i < LIMBS; i++)
        result.limb[i] = value < 0 ? ~(uint64_t)0 : 0;
    return result;
}

struct sw_wide sw_wide_from_bytes(const uint8_t *bytes, unsigned bits, bool is_signed)
{
    struct sw_wide result = {{0}};
    unsigned n = (bits + 7) / 8;
    for (unsigned i = 0; i < n; i++)
        result.limb[i / 8] |= (uint64_t)bytes[n - 1 - i] << (i % 8 * 8);
    return is_signed ? sw_wide_sign(result, bits) : result;
}

struct sw_wide sw_wide_from_wire(const uint8_t *p, uint32_t offset, unsigned bits)
{
    uint8_t bytes[8 * LIMBS];
    sw_get_bytes(bytes, p, offset, bits);
    return sw_wide_from_bytes(bytes, bits, false);
}

void sw_wide_to_bytes(uint8_t *bytes, unsigned bits, struct sw_wide value)
{
    unsigned n = (bits + 7) / 8;
    for (unsigned i = 0; i < n; i++)
        bytes[n - 1 - i] = (uint8_t)(value.limb[i / 8] >> (i % 8 * 8));
    if (bits % 8)
        bytes[0] &= (uint8_t)((1u << (bits % 8)) - 1);
}

sw_u128 sw_wide_low(struct sw_wide value)
{
    return (sw_u128)value.limb[1] << 64 | value.limb[0];
}

struct sw_wide sw_wide_add(struct sw_wide a, struct sw_wide b)
{
    sw_u128 carry = 0;
    for (unsigned i = 0; i < LIMBS; i++) {
        carry += (sw_u128)a.limb[i] + b.limb[i];
        a.limb[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return a;
}

struct sw_wide sw_wide_sub(struct sw_wide a, struct sw_wide b)
{
    return sw_wide_add(sw_wide_add(a, sw_wide_not(b)), sw_wide_u(1));
}

struct sw_wide sw_wide_mul(struct sw_wide a, struct sw_wide b)
{
    struct sw_wide result = {{0}};
    for (unsigned i = 0; i < LIMBS; i++) {
        uint64_t carry = 0;
        for (unsigned j = 0; i + j < LIMBS; j++) {
            sw_u128 sum = (sw_u128)a.limb[i] * b.limb[j] + result.limb[i + j] + carry;
            result.limb[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
    }
    return result;
}

struct sw_wide sw_wide_and(struct sw_wide a, struct sw_wide b)
{
    for (unsigned i = 0; i < LIMBS; i++)
        a.limb[i] &= b.limb[i];
    return a;
}

struct sw_wide sw_wide_or(struct sw_wide a, struct sw_wide b)
{
    for (unsigned i = 0; i < LIMBS; i++)
        a.limb[i] |= b.limb[i];
    return a;
}

struct sw_wide sw_wide_xor(struct sw_wide a, struct sw_wide b)
{
    for (unsigned i = 0; i < LIMBS; i++)
        a.limb[i] ^= b.limb[i];
    return a;
}

struct sw_wide sw_wide_not(struct sw_wide a)
{
    for (unsigned i = 0; i < LIMBS; i++)
        a.limb[i] = ~a.limb[i];
    return a;
}

struct sw_wide sw_wide_shl(struct sw_wide a, uint64_t distance)
{
    struct sw_wide result = {{0}};
    uint64_t limbs = distance / 64;
    unsigned bits = distance % 64;
    for (uint64_t i = limbs; i < LIMBS; i++) {
        result.limb[i] = a.limb[i - limbs] << bits;
        if (bits && i > limbs)
            result.limb[i] |= a.limb[i - limbs - 1] >> (64 - bits);
    }
    return result;
}

struct sw_wide sw_wide_shr(struct sw_wide a, uint64_t distance)
{
    uint64_t fill = a.limb[LIMBS - 1] >> 63 ? ~(uint64_t)0 : 0;
    struct sw_wide result;
    uint64_t limbs = distance / 64;
    unsigned bits = distance % 64;
    for (uint64_t i = 0; i < LIMBS; i++) {
        uint64_t low = limbs < LIMBS - i ? a.limb[i + limbs] : fill;
        uint64_t high = limbs < LIMBS - i - 1 ? a.limb[i + limbs + 1] : fill;
        result.limb[i] = bits ? low >> bits | high << (64 - bits) : low;
    }
    return result;
}

struct sw_wide sw_wide_sign(struct sw_wide a, unsigned bits)
{
    unsigned distance = 64 * LIMBS - bits;
    return sw_wide_shr(sw_wide_shl(a, distance), distance);
}

struct sw_wide sw_wide_clamp(struct sw_wide a, struct sw_wide low, struct sw_wide high)
{
    if (sw_wide_compare(a, low) < 0)
        return low;
    return sw_wide_compare(a, high) > 0 ? high : a;
}

int sw_wide_compare(struct sw_wide a, struct sw_wide b)
{
    int64_t top_a = (int64_t)a.limb[LIMBS - 1], top_b = (int64_t)b.limb[LIMBS - 1];
    if (top_a != top_b)
        return top_a < top_b ? -1 : 1;
    for (unsigned i = LIMBS - 1; i-- > 0;) {
        if (a.limb[i] != b.limb[i])
            return a.limb[i] < b.limb[i] ? -1 : 1;
    }
    return 0;
}
