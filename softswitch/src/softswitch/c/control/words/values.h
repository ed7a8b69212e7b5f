/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Parses numbers, values and matches of commands. On error the functions set an error that names the word and return
 * -1.
 */
#ifndef SW_COMMAND_VALUES_H
#define SW_COMMAND_VALUES_H

#include "control/words/command.h"

int sw_read_number(struct sw_command *command, const char *word, const char *what, uint64_t max, uint64_t *number);
int sw_read_u32(struct sw_command *command, const char *word, const char *what, uint32_t max, uint32_t *number);
/* Reads a word that is `yes` or `no`. */
int sw_read_either(struct sw_command *command, const char *word, const char *yes, const char *no, bool *is_yes);
int sw_read_value(struct sw_command *command, const char *word, uint16_t bits, uint8_t *bytes);
int sw_read_match(struct sw_command *command, const char *word, const struct sw_key_info *key, uint8_t *value,
                  uint8_t *mask, struct sw_match *match);
void sw_print_value(struct sw_text *out, const uint8_t *bytes, uint16_t n_bytes);

#endif /* SW_COMMAND_VALUES_H */
