/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * Finds an object of the program by its full name, or by a suffix after a dot that only one object has. The functions
 * return the object's id, or -1 on error.
 */
#ifndef SW_COMMAND_NAMES_H
#define SW_COMMAND_NAMES_H

#include "control/words/command.h"

int sw_find_table(struct sw_command *command, const char *word);
int sw_find_profile(struct sw_command *command, const char *word);
int sw_find_register(struct sw_command *command, const char *word);
int sw_find_counter(struct sw_command *command, const char *word);
int sw_find_meter(struct sw_command *command, const char *word);
int sw_find_value_set(struct sw_command *command, const char *word);
int sw_find_crc(struct sw_command *command, const char *word);
int sw_find_table_action(struct sw_command *command, uint32_t table, const char *word);
int sw_find_profile_action(struct sw_command *command, uint32_t profile, const char *word);

#endif /* SW_COMMAND_NAMES_H */
