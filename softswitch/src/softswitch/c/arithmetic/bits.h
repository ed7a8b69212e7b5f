/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Big-endian loads and stores of wire fields, and the small integer helpers of generated expressions.
 * Must know neither packets nor programs. Byte-aligned fields use sw_getN and sw_putN; fields that straddle bytes in
 * unusual ways use sw_get_bits and sw_put_bits.
 */
#ifndef SW_BITS_H
#define SW_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

__extension__ typedef unsigned __int128 sw_u128;
__extension__ typedef __int128 sw_i128;

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "softswitch needs a little-endian machine"
#endif

static inline uint64_t sw_get8(const uint8_t *p)
{
    return p[0];
}

static inline uint64_t sw_get16(const uint8_t *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof(v));
    return __builtin_bswap16(v);
}

static inline uint64_t sw_get32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return __builtin_bswap32(v);
}

static inline uint64_t sw_get64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return __builtin_bswap64(v);
}

static inline uint64_t sw_get24(const uint8_t *p)
{
    return sw_get16(p) << 8 | p[2];
}

static inline uint64_t sw_get40(const uint8_t *p)
{
    return sw_get32(p) << 8 | p[4];
}

static inline uint64_t sw_get48(const uint8_t *p)
{
    return sw_get32(p) << 16 | sw_get16(p + 4);
}

static inline uint64_t sw_get56(const uint8_t *p)
{
    return sw_get32(p) << 24 | sw_get24(p + 4);
}

/* Whether two numbers are equal. GCC merges the comparisons of neighbouring fields into one wide load, unless they are
 * calls. Such a load waits until the stores of all these fields have reached the cache. */
static inline bool sw_equal(uint64_t a, uint64_t b)
{
    return a == b;
}

static inline void sw_put8(uint8_t *p, uint64_t value)
{
    p[0] = (uint8_t)value;
}

static inline void sw_put16(uint8_t *p, uint64_t value)
{
    uint16_t v = __builtin_bswap16((uint16_t)value);
    memcpy(p, &v, sizeof(v));
}

static inline void sw_put32(uint8_t *p, uint64_t value)
{
    uint32_t v = __builtin_bswap32((uint32_t)value);
    memcpy(p, &v, sizeof(v));
}

static inline void sw_put64(uint8_t *p, uint64_t value)
{
    uint64_t v = __builtin_bswap64(value);
    memcpy(p, &v, sizeof(v));
}

static inline void sw_put24(uint8_t *p, uint64_t value)
{
    sw_put16(p, value >> 8);
    sw_put8(p + 2, value);
}

static inline void sw_put40(uint8_t *p, uint64_t value)
{
    sw_put32(p, value >> 8);
    sw_put8(p + 4, value);
}

static inline void sw_put48(uint8_t *p, uint64_t value)
{
    sw_put32(p, value >> 16);
    sw_put16(p + 4, value);
}

static inline void sw_put56(uint8_t *p, uint64_t value)
{
    sw_put32(p, value >> 24);
    sw_put24(p + 4, value);
}

/* The low `bits` bits set; bits <= 128. */
static inline sw_u128 sw_mask(unsigned bits)
{
    return bits >= 128 ? ~(sw_u128)0 : ((sw_u128)1 << bits) - 1;
}

/* A field of up to 128 bits that starts `offset` bits after p. */
static inline sw_u128 sw_get_bits(const uint8_t *p, uint32_t offset, uint32_t bits)
{
    sw_u128 value = 0;
    p += offset / 8;
    uint32_t skip = offset % 8;
    while (bits > 0) {
        uint32_t here = 8 - skip < bits ? 8 - skip : bits;
        uint32_t part = ((uint32_t)*p++ >> (8 - skip - here)) & ((1u << here) - 1);
        value = value << here | part;
        bits -= here;
        skip = 0;
    }
    return value;
}

static inline void sw_put_bits(uint8_t *p, uint32_t offset, uint32_t bits, sw_u128 value)
{
    p += offset / 8;
    uint32_t skip = offset % 8;
    while (bits > 0) {
        uint32_t here = 8 - skip < bits ? 8 - skip : bits;
        uint32_t shift = 8 - skip - here;
        uint32_t mask = ((1u << here) - 1) << shift;
        uint32_t part = (uint32_t)(value >> (bits - here)) << shift;
        *p = (uint8_t)((*p & ~mask) | (part & mask));
        p++;
        bits -= here;
        skip = 0;
    }
}

/* Fields over 128 bits are stored as (bits + 7) / 8 right-aligned big-endian bytes. */
static inline void sw_get_bytes(uint8_t *to, const uint8_t *p, uint32_t offset, uint32_t bits)
{
    uint32_t first = bits % 8 ? bits % 8 : 8;
    for (uint32_t done = 0; done < bits; first = 8) {
        *to++ = (uint8_t)sw_get_bits(p, offset + done, first);
        done += first;
    }
}

static inline void sw_put_bytes(uint8_t *p, uint32_t offset, uint32_t bits, const uint8_t *from)
{
    uint32_t first = bits % 8 ? bits % 8 : 8;
    for (uint32_t done = 0; done < bits; first = 8) {
        sw_put_bits(p, offset + done, first, *from++);
        done += first;
    }
}

/* ---- expressions ---- */

/* The signed value of the low `bits` bits, 1 to 64. */
static inline int64_t sw_sign64(uint64_t value, unsigned bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

/* The signed value of the low `bits` bits, 1 to 128. */
static inline sw_i128 sw_sign128(sw_u128 value, unsigned bits)
{
    return (sw_i128)(value << (128 - bits)) >> (128 - bits);
}

/* Shifts with P4's meaning: after a distance beyond the width only the sign is left. */
static inline uint64_t sw_shl64(uint64_t value, uint64_t distance)
{
    return distance > 63 ? 0 : value << distance;
}

static inline uint64_t sw_shr64(uint64_t value, uint64_t distance)
{
    return distance > 63 ? 0 : value >> distance;
}

static inline int64_t sw_sar64(int64_t value, uint64_t distance)
{
    return value >> (distance > 63 ? 63 : distance);
}

static inline sw_u128 sw_shl128(sw_u128 value, uint64_t distance)
{
    return distance > 127 ? 0 : value << distance;
}

static inline sw_u128 sw_shr128(sw_u128 value, uint64_t distance)
{
    return distance > 127 ? 0 : value >> distance;
}

static inline sw_i128 sw_sar128(sw_i128 value, uint64_t distance)
{
    return value >> (distance > 127 ? 127 : distance);
}

static inline sw_i128 sw_clamp128(sw_i128 value, sw_i128 low, sw_i128 high)
{
    return value < low ? low : value > high ? high : value;
}

static inline int64_t sw_clamp64(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* P4 leaves division by zero undefined; here it yields zero. */
static inline uint64_t sw_div64(uint64_t a, uint64_t b)
{
    return b ? a / b : 0;
}

static inline uint64_t sw_mod64(uint64_t a, uint64_t b)
{
    return b ? a % b : 0;
}

static inline sw_u128 sw_div128(sw_u128 a, sw_u128 b)
{
    return b ? a / b : 0;
}

static inline sw_u128 sw_mod128(sw_u128 a, sw_u128 b)
{
    return b ? a % b : 0;
}

/* A constant of more than 64 bits. */
static inline sw_u128 sw_u128_of(uint64_t high, uint64_t low)
{
    return (sw_u128)high << 64 | low;
}

/* An index into an array of `count` headers and one spare; an index out of bounds becomes that of the spare. */
static inline uint32_t sw_at(uint64_t index, uint32_t count)
{
    return index < count ? (uint32_t)index : count;
}

/* The next number of a random stream by splitmix64: accepts any seed, and the state of a stream is one number. */
static inline uint64_t sw_next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

#endif /* SW_BITS_H */
