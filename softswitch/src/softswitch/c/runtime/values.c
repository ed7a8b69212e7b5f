/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Big-endian values of control commands, and the layout of action arguments in an entry. Must know no tables.
 */
#include <errno.h>

#include "runtime/internal.h"

bool sw_value_fits(const struct sw_value *value, unsigned bits)
{
    if (value->n_bytes != (bits + 7) / 8)
        return false;
    return bits % 8 == 0 || value->bytes[0] >> (bits % 8) == 0;
}

uint64_t sw_value_low64(const struct sw_value *value)
{
    uint64_t result = 0;
    for (unsigned i = value->n_bytes > 8 ? value->n_bytes - 8u : 0; i < value->n_bytes; i++)
        result = result << 8 | value->bytes[i];
    return result;
}

unsigned sw_argument_words(unsigned bits)
{
    if (bits <= 64)
        return 1;
    return bits <= 128 ? 2 : ((bits + 7) / 8 + 7) / 8;
}

unsigned sw_action_words(const struct sw_action_info *action)
{
    unsigned words = 0;
    for (unsigned i = 0; i < action->n_params; i++)
        words += sw_argument_words(action->params[i].bits);
    return words;
}

int sw_action_encode(uint64_t *words, const struct sw_action_info *action, const struct sw_value *args)
{
    for (unsigned i = 0; i < action->n_params; i++) {
        if (!sw_value_fits(&args[i], action->params[i].bits))
            return -EINVAL;
    }
    for (unsigned i = 0; i < action->n_params; i++) {
        unsigned bits = action->params[i].bits;
        if (bits > 128) {
            memcpy(words, args[i].bytes, args[i].n_bytes);
        } else if (bits > 64) {
            struct sw_value high = {args[i].bytes, (uint16_t)(args[i].n_bytes - 8)};
            words[0] = sw_value_low64(&high);
            words[1] = sw_value_low64(&args[i]);
        } else {
            words[0] = sw_value_low64(&args[i]);
        }
        words += sw_argument_words(bits);
    }
    return 0;
}
