# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Generates lines for a switch's control socket: existing commands and names with valid and invalid values."""

import json
import re
from functools import cache
from random import Random

from sfc_testbed.testbed.targets.common.commands import PROGRAM
from softswitch.build import SOURCE_DIR
from tests.fuzz.hostile import NUMBERS, TEXTS

_MORE = (
    "=>", "|", "0", "1", "7", "510", "511", "1:1", "0.001:10", "1e300:4294967295", "-1:0", "on", "off", "10.0.0.1/33",
    "10.0.0.0/8", "in", "out", "loss", "jitter", "rate_ppb=1000000000", "time_ns=1000000000000000", "udp_port=-1",
)  # fmt: skip
_SMALL = (
    "0", "1", "2", "3", "9", "26", "255", "256", "65535", "0xffffffff", "0x1p3", "00:00:00:00:00:01", "10.0.0.1",
    "1.2.3.4.5",
)  # fmt: skip


@cache
def _commands() -> tuple[str, ...]:
    text = (SOURCE_DIR / "control" / "control.c").read_text(encoding="utf-8")
    return tuple(re.findall(r'^    \{"(\w+)", "', text, re.MULTILINE))


@cache
def _names() -> dict[str, tuple[str, ...]]:
    """Return the names of tables, actions, registers and counters of the program, by the prefix of their commands."""
    program = json.loads(PROGRAM.read_text(encoding="utf-8"))
    tables = tuple(table["name"] for pipeline in program["pipelines"] for table in pipeline["tables"])
    return {
        "table": tables,
        "act": tuple(action["name"] for action in program["actions"]),
        "register": tuple(array["name"] for array in program["register_arrays"]),
        "counter": tuple(array["name"] for array in program["counter_arrays"]),
    }


def control_line(random: Random) -> str:
    """Return a random line without its newline, which is rarely a valid command."""
    if random.random() < 0.05:
        return random.choice(TEXTS).replace("\n", " ")
    command = random.choice(_commands())
    words = [command]
    names = _names().get(command.partition("_")[0])
    if names:
        words.append(random.choice(names))
        if command in ("table_add", "table_set_default", "table_modify"):
            words.append(random.choice(_names()["act"]))
    for _ in range(random.choice((0, 1, 1, 2, 2, 3, 5, 30))):
        words.append(_word(random))
    return (" " if random.random() < 0.9 else "\t  ").join(words)


def _word(random: Random) -> str:
    kind = random.random()
    if kind < 0.4:
        return random.choice(_SMALL)
    if kind < 0.7:
        return random.choice(_MORE)
    if kind < 0.8:
        return str(random.randrange(600))
    text = random.choice(NUMBERS if kind < 0.95 else TEXTS)
    return text.replace("\n", " ")
