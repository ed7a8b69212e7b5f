# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The refusal of calls: the codes of BMv2's exceptions, and the calls that softswitch does not support.

Only the code is sent to the client; the text goes to the server's stderr.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import IntEnum

from softswitch.control import CommandError, Commands
from softswitch.operations.values import run


class TableCode(IntEnum):
    """The error codes of tables and action profiles."""

    TABLE_FULL = 1
    INVALID_HANDLE = 2
    COUNTERS_DISABLED = 4
    METERS_DISABLED = 5
    AGEING_DISABLED = 6
    INVALID_TABLE_NAME = 7
    INVALID_ACTION_NAME = 8
    WRONG_TABLE_TYPE = 9
    INVALID_MEMBER = 10
    MEMBER_USED = 11
    MEMBER_IN_GROUP = 12
    MEMBER_NOT_IN_GROUP = 13
    INVALID_GROUP = 14
    GROUP_USED = 15
    DUPLICATE_ENTRY = 17
    BAD_MATCH_KEY = 18
    INVALID_METER_OPERATION = 19
    DEFAULT_ACTION_IS_CONST = 20
    NO_DEFAULT_ENTRY = 22
    INVALID_PROFILE_NAME = 23
    NO_SELECTOR = 24
    ENTRIES_ARE_CONST = 25
    BAD_ACTION_DATA = 26
    NO_TABLE_KEY = 27
    ERROR = 100


class ArrayCode(IntEnum):
    """The error codes of counters and registers."""

    INVALID_NAME = 1
    INVALID_INDEX = 2
    ERROR = 3


class MeterCode(IntEnum):
    """The further error codes of meters; 1 and 2 are the codes of `ArrayCode`."""

    BAD_RATES = 3
    INVALID_RATE = 4
    INVALID_BURST = 5
    ERROR = 6


class MulticastCode(IntEnum):
    TABLE_FULL = 1
    INVALID_GROUP_ID = 2
    INVALID_GROUP = 3
    INVALID_NODE = 4
    ERROR = 5


class LearnCode(IntEnum):
    """The error codes of digests."""

    INVALID_LIST_ID = 1
    ERROR = 3


class CalculationCode(IntEnum):
    """The error codes of hashes and checksums."""

    INVALID_NAME = 1
    WRONG_TYPE = 2
    INVALID_PARAMETERS = 3


class ValueSetCode(IntEnum):
    """The error codes of parser value sets."""

    INVALID_NAME = 1
    ERROR = 2


UNDECLARED = 0
"""The code for a method that declares no exception."""
SESSION_NOT_FOUND = 1
INVALID_RESOURCE_TYPE, INVALID_RESOURCE_NAME = 0, 1


class Refused(Exception):
    """A call is refused; `code` is the code of the exception that the call declares, if it declares one."""

    def __init__(self, code: int, why: str) -> None:
        super().__init__(why)
        self.code = code


@contextmanager
def refusing(otherwise: int, meanings: Mapping[str, int] | None = None) -> Iterator[None]:
    """Raise Refused in place of a CommandError.

    The code is that of the first phrase of `meanings` that the error contains, or `otherwise`.
    """
    try:
        yield
    except CommandError as error:
        text = str(error)
        codes = (code for phrase, code in (meanings or {}).items() if phrase in text)
        raise Refused(next(codes, otherwise), text) from None


def ask(control: Commands, words: list[str], otherwise: int, meanings: Mapping[str, int] | None = None) -> str:
    """Run a command and return its answer. Raise Refused like `refusing`."""
    with refusing(otherwise, meanings):
        return run(control, *words)


_NO_AGEING = (TableCode.AGEING_DISABLED, "entries have no timeouts")
_NO_SWAP = (1, "a switch runs the program that it was started with")
_NO_PORTS = (1, "a switch has the ports that it was started with")
_NO_RATE = (0, "the priorities of a port share one wire: set the rate of the port, or port_rate PORT BITS_PER_S")

NEVER: Mapping[str, tuple[int, str]] = {
    "bm_mt_set_entry_ttl": _NO_AGEING,
    "bm_mt_indirect_set_entry_ttl": _NO_AGEING,
    "bm_load_new_config": _NO_SWAP,
    "bm_swap_configs": _NO_SWAP,
    "bm_dev_mgr_add_port": _NO_PORTS,
    "bm_dev_mgr_remove_port": _NO_PORTS,
    "bm_serialize_state": (0, "a switch's state is not written down"),
    "set_egress_priority_queue_rate": _NO_RATE,
}
"""The calls that softswitch refuses for any arguments: the nearest code, and the reason."""
