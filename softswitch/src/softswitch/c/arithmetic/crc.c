/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The register is left-aligned in 32 bits, so that the same code computes both widths.
 */
#include "arithmetic/crc.h"

#define WORD_BITS 32u
#define TOP (1u << (WORD_BITS - 1))

static uint32_t reflected(uint32_t value, unsigned bits)
{
    uint32_t result = 0;

    for (unsigned i = 0; i < bits; i++)
        result |= (value >> i & 1u) << (bits - 1 - i);
    return result;
}

void sw_crc_set(struct sw_crc *crc, unsigned bits, const struct sw_crc_parameters *parameters)
{
    uint32_t polynomial = parameters->polynomial << (WORD_BITS - bits);

    crc->parameters = *parameters;
    crc->bits = bits;
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t remainder = byte << (WORD_BITS - 8);

        for (int i = 0; i < 8; i++)
            remainder = remainder & TOP ? remainder << 1 ^ polynomial : remainder << 1;
        crc->remainder[byte] = remainder;
        crc->order[byte] = (uint8_t)(parameters->reflects_data ? reflected(byte, 8) : byte);
    }
}

void sw_crc_begin(struct sw_crc *crc, unsigned bits)
{
    static const struct sw_crc_parameters arc = {0x8005, 0, 0, true, true};
    static const struct sw_crc_parameters ieee = {0x04c11db7, 0xffffffff, 0xffffffff, true, true};

    sw_crc_set(crc, bits, bits == 16 ? &arc : &ieee);
}

static uint32_t more(const struct sw_crc *crc, uint32_t value, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        value = crc->remainder[crc->order[bytes[i]] ^ value >> (WORD_BITS - 8)] ^ value << 8;
    return value;
}

uint64_t sw_hash_crc(const struct sw_crc *crc, const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b)
{
    unsigned below = WORD_BITS - crc->bits;
    uint32_t value = more(crc, more(crc, crc->parameters.initial_value << below, a, n_a), b, n_b) >> below;

    return (crc->parameters.reflects_result ? reflected(value, crc->bits) : value) ^ crc->parameters.final_xor;
}
