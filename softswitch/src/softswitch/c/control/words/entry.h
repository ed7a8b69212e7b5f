/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * An entry's keys and arguments in the runtime's form, in memory that the entry owns.
 */
#ifndef SW_COMMAND_ENTRY_H
#define SW_COMMAND_ENTRY_H

#include "control/words/command.h"

struct sw_entry_words {
    struct sw_match *keys;
    struct sw_value *args;
    uint8_t *bytes;
    int32_t priority;
    bool has_priority;
};

int sw_read_keys(struct sw_command *command, const struct sw_table_info *table, char **words, uint32_t n_words,
                 struct sw_entry_words *entry);
int sw_read_args(struct sw_command *command, const struct sw_action_info *action, char **words, uint32_t n_words,
                 struct sw_entry_words *entry);
void sw_free_entry(struct sw_entry_words *entry);
/* Splits KEY... => REST... [PRIORITY] starting at words[first]: reads the keys and returns the position of the rest. */
int sw_read_entry(struct sw_command *command, const struct sw_table_info *table, uint32_t first,
                  struct sw_entry_words *entry, char ***rest, uint32_t *n_rest);
/* The priority for the shadow; SW_NO_PRIORITY if the table's entries have none. */
int32_t sw_shown_priority(const struct sw_table_info *table, const struct sw_entry_words *entry);

#endif /* SW_COMMAND_ENTRY_H */
