/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: SFC Testbed contributors
 *
 * The commands that change the parameters of a crc16_custom or crc32_custom of the program.
 */
#include "control/commands.h"
#include "control/words/names.h"
#include "control/words/values.h"

#include <string.h>

static int read_truth(struct sw_command *command, const char *word, bool *truth)
{
    static const char *const words[2][3] = {{"false", "False", "0"}, {"true", "True", "1"}};

    for (int is = 0; is < 2; is++) {
        for (int i = 0; i < 3; i++) {
            if (strcmp(word, words[is][i]) == 0) {
                *truth = is;
                return 0;
            }
        }
    }
    return sw_command_fail(command, "'%s' is neither true nor false", word);
}

static int set_parameters(struct sw_command *command, uint16_t bits)
{
    static const char *const kinds[] = {"polynomial", "initial value", "final xor"};
    struct sw_crc_parameters parameters = {0};
    uint32_t *const numbers[] = {&parameters.polynomial, &parameters.initial_value, &parameters.final_xor};
    int crc = sw_find_crc(command, command->words[1]);

    if (crc < 0)
        return -1;
    if (command->program->crcs[crc].bits != bits)
        return sw_command_fail(command, "'%s' has %u bits", command->words[1], command->program->crcs[crc].bits);
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t number;

        if (sw_read_number(command, command->words[2 + i], kinds[i], (1ull << bits) - 1, &number) < 0)
            return -1;
        *numbers[i] = (uint32_t)number;
    }
    if (read_truth(command, command->words[5], &parameters.reflects_data) < 0 ||
        read_truth(command, command->words[6], &parameters.reflects_result) < 0)
        return -1;
    return sw_command_check(command, sw_crc_configure(command->pipeline, (uint16_t)crc, &parameters), "the CRC");
}

int sw_do_set_crc16_parameters(struct sw_command *command)
{
    return set_parameters(command, 16);
}

int sw_do_set_crc32_parameters(struct sw_command *command)
{
    return set_parameters(command, 32);
}
