/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Numbers, addresses and match keys in the notations of simple_switch_CLI.
 */
#include "control/words/values.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint16_t bytes_of(uint16_t bits)
{
    return (uint16_t)((bits + 7) / 8);
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 99;
}

/* Returns the radix by Python's prefixes (0x, 0o, 0b) and skips the prefix. */
static int radix_of(const char **digits)
{
    const char *text = *digits;
    char prefix = text[0] == '0' ? text[1] : '\0';
    int radix = prefix == 'x' || prefix == 'X' ? 16 : prefix == 'b' || prefix == 'B' ? 2 : 10;

    if (prefix == 'o' || prefix == 'O')
        radix = 8;
    *digits += radix == 10 ? 0 : 2;
    return radix;
}

/* Reads a number of any size into big-endian bytes; -1 if it is not a number, -2 if it does not fit. */
static int parse_number(const char *word, uint16_t n_bytes, uint8_t *bytes)
{
    const char *digits = word;
    int radix = radix_of(&digits);

    memset(bytes, 0, n_bytes);
    if (!*digits)
        return -1;
    for (; *digits; digits++) {
        uint32_t carry = (uint32_t)digit_of(*digits);

        if (carry >= (uint32_t)radix)
            return -1;
        for (uint16_t i = n_bytes; i-- > 0;) {
            carry += (uint32_t)bytes[i] * (uint32_t)radix;
            bytes[i] = (uint8_t)carry;
            carry >>= 8;
        }
        if (carry)
            return -2;
    }
    return 0;
}

static int parse_mac(const char *word, uint8_t *bytes)
{
    int used = 0;

    if (strlen(word) > 17 || sscanf(word, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &bytes[0], &bytes[1], &bytes[2],
                                    &bytes[3], &bytes[4], &bytes[5], &used) != 6)
        return -1;
    return word[used] ? -1 : 0;
}

int sw_read_value(struct sw_command *command, const char *word, uint16_t bits, uint8_t *bytes)
{
    uint16_t n_bytes = bytes_of(bits);
    int result;

    if (bits == 32 && strchr(word, '.')) {
        if (inet_pton(AF_INET, word, bytes) != 1)
            return sw_command_fail(command, "'%s' is not an IPv4 address", word);
        return 0;
    }
    if (bits == 48 && strchr(word, ':')) {
        if (parse_mac(word, bytes) < 0)
            return sw_command_fail(command, "'%s' is not a MAC address", word);
        return 0;
    }
    if (bits == 128 && strchr(word, ':')) {
        if (inet_pton(AF_INET6, word, bytes) != 1)
            return sw_command_fail(command, "'%s' is not an IPv6 address", word);
        return 0;
    }
    result = parse_number(word, n_bytes, bytes);
    if (result == -1)
        return sw_command_fail(command, "'%s' is not a number", word);
    if (result == -2 || (bits % 8 && bytes[0] >> (bits % 8)))
        return sw_command_fail(command, "'%s' does not fit in %" PRIu16 " bits", word, bits);
    return 0;
}

int sw_read_number(struct sw_command *command, const char *word, const char *what, uint64_t max, uint64_t *number)
{
    uint8_t bytes[8];
    int result = parse_number(word, sizeof(bytes), bytes);

    *number = 0;
    if (result == -1)
        return sw_command_fail(command, "%s '%s' is not a number", what, word);
    for (size_t i = 0; i < sizeof(bytes); i++)
        *number = *number << 8 | bytes[i];
    if (result == -2 || *number > max)
        return sw_command_fail(command, "%s '%s' is above %" PRIu64, what, word, max);
    return 0;
}

int sw_read_u32(struct sw_command *command, const char *word, const char *what, uint32_t max, uint32_t *number)
{
    uint64_t wide;
    int result = sw_read_number(command, word, what, max, &wide);

    *number = (uint32_t)wide;
    return result;
}

int sw_read_either(struct sw_command *command, const char *word, const char *yes, const char *no, bool *is_yes)
{
    *is_yes = strcmp(word, yes) == 0;
    if (*is_yes || strcmp(word, no) == 0)
        return 0;
    return sw_command_fail(command, "'%s' is neither '%s' nor '%s'", word, yes, no);
}

/* Reads "left<separator>right" and splits the word in place. Both halves are `bits` wide. */
static int read_pair(struct sw_command *command, const char *word, const char *separator, uint16_t bits, uint8_t *left,
                     uint8_t *right)
{
    const char *at = strstr(word, separator);
    char *copy;
    int result;

    if (!at)
        return sw_command_fail(command, "key '%s' lacks '%s'", word, separator);
    copy = strdup(word);
    if (!copy)
        return sw_command_fail(command, "no memory");
    copy[at - word] = '\0';
    result = sw_read_value(command, copy, bits, left);
    if (result == 0)
        result = sw_read_value(command, copy + (at - word) + strlen(separator), bits, right);
    free(copy);
    return result;
}

static int read_prefix(struct sw_command *command, const char *word, uint16_t bits, uint8_t *value, uint16_t *prefix)
{
    const char *slash = strchr(word, '/');
    uint64_t length;
    char *copy;
    int result;

    if (!slash)
        return sw_command_fail(command, "key '%s' lacks '/' and a prefix length", word);
    if (sw_read_number(command, slash + 1, "prefix length", bits, &length) < 0)
        return -1;
    copy = strndup(word, (size_t)(slash - word));
    if (!copy)
        return sw_command_fail(command, "no memory");
    result = sw_read_value(command, copy, bits, value);
    free(copy);
    *prefix = (uint16_t)length;
    return result;
}

static int read_optional(struct sw_command *command, const char *word, uint16_t bits, uint8_t *value, uint8_t *mask)
{
    if (strstr(word, "&&&"))
        return read_pair(command, word, "&&&", bits, value, mask);
    if (strcmp(word, "_") == 0)
        return 0;
    memset(mask, 0xFF, bytes_of(bits));
    if (bits % 8)
        mask[0] = (uint8_t)((1u << (bits % 8)) - 1);
    return sw_read_value(command, word, bits, value);
}

static int read_range(struct sw_command *command, const char *word, uint16_t bits, uint8_t *low, uint8_t *high)
{
    if (read_pair(command, word, "->", bits, low, high) < 0)
        return -1;
    if (memcmp(low, high, bytes_of(bits)) > 0)
        return sw_command_fail(command, "range '%s' starts after its end", word);
    return 0;
}

int sw_read_match(struct sw_command *command, const char *word, const struct sw_key_info *key, uint8_t *value,
                  uint8_t *mask, struct sw_match *match)
{
    uint16_t n_bytes = bytes_of(key->bits);

    memset(value, 0, n_bytes);
    memset(mask, 0, n_bytes);
    *match = (struct sw_match){.value = {value, n_bytes}, .mask = {mask, n_bytes}};
    switch (key->kind) {
    case SW_MATCH_EXACT:
        return sw_read_value(command, word, key->bits, value);
    case SW_MATCH_LPM:
        return read_prefix(command, word, key->bits, value, &match->prefix_bits);
    case SW_MATCH_TERNARY:
        return read_pair(command, word, "&&&", key->bits, value, mask);
    case SW_MATCH_RANGE:
        return read_range(command, word, key->bits, value, mask);
    default:
        return read_optional(command, word, key->bits, value, mask);
    }
}

/* Prints the number in decimal by dividing it by ten until it is 0. */
void sw_print_value(struct sw_text *out, const uint8_t *bytes, uint16_t n_bytes)
{
    size_t room = 3u * n_bytes + 2, at = room - 1;
    uint8_t *rest = malloc(n_bytes + 1u);
    char *digits = malloc(room);
    bool more = true;

    if (rest && digits) {
        memcpy(rest, bytes, n_bytes);
        digits[at] = '\0';
        while (more) {
            uint32_t carry = 0;

            more = false;
            for (uint16_t i = 0; i < n_bytes; i++) {
                carry = carry << 8 | rest[i];
                rest[i] = (uint8_t)(carry / 10);
                carry %= 10;
                more |= rest[i] != 0;
            }
            digits[--at] = (char)('0' + carry);
        }
        sw_text_add(out, "%s", digits + at);
    }
    free(rest);
    free(digits);
}
