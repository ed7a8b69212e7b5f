# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reading of the digests that wait in a switch."""

from __future__ import annotations

import re
from typing import TypeAlias

from softswitch.control import Commands
from softswitch.operations.values import run

Digest: TypeAlias = tuple[str, tuple[int, ...]]
"""The name of a digest and the values of its fields."""

_DIGEST = re.compile(r"(.*?)((?: \S+=\d+)*)")


def take(control: Commands) -> list[Digest]:
    """Return the waiting digests in order and remove them from the switch."""
    digests = []
    for line in run(control, "digest_read").splitlines():
        match = _DIGEST.fullmatch(line)
        assert match is not None
        values = tuple(int(word.rpartition("=")[2]) for word in match[2].split())
        digests.append((match[1], values))
    return digests
