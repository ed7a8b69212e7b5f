# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The largest sizes in a program. They bound the time and memory that a program of another author can take."""

WIDEST_BITS = 2048
"""The width of a field, constant, cast, lookahead, parameter or register cell. Generated C computes with 2176 bits
(values.py), so that sums and differences of such values fit."""
MOST_HEADER_BITS = 8 * 0xFFFF
"""The size of a header or metadata struct."""
MOST_PHV_BYTES = 1 << 20
"""All headers and metadata of a packet together."""
MOST_PACKED_BYTES = 0xFFFF
"""The input of a hash, a digest, and the key of a table; generated functions have them on their stack."""
MOST_OBJECTS = 10_000
"""The number of objects of a kind, such as tables, actions, states, fields of a type, or steps of an action."""
MOST_MEMBERS = 256
"""The number of members of a header union, and of parameters of an action."""
MOST_CASES = 1 << 20
"""The number of const entries of a table, and of transitions of a state."""
MOST_ENTRIES = 1 << 24
"""The number of entries of a table, and of members of a profile."""
MOST_STATE_BYTES = 4 << 30
"""The tables, registers, counters and meters of a program together."""
MOST_NUMBER = (1 << 31) - 1
"""Ids, error numbers, priorities and offsets."""
DEEPEST = 1000
"""The nesting of the JSON. BMv2's reader has the same limit."""
LONGEST_TEXT = 1 << 20
"""The characters of a name or string."""
LONGEST_INDEX = 4096
"""The C code of a computed index of a header stack, which is repeated for each use of the header."""
LONGEST_CODE = 16 << 20
"""The C code of a program."""
