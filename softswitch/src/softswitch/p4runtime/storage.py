# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The memory for what clients store beside the state of the switch: metadata, and messages to be read back."""

from __future__ import annotations

from collections.abc import Hashable

from grpc import StatusCode

from softswitch.p4runtime.status import refuse

MOST_STORED_BYTES = 128 << 20
"""The maximum size of what clients store in a pipeline."""


class Storage:
    """The size of each object that clients store in a pipeline."""

    def __init__(self) -> None:
        self.n_bytes = 0
        self._sizes: dict[Hashable, int] = {}

    def check(self, key: Hashable, n_bytes: int) -> None:
        """Raise Refusal if an object of this size does not fit."""
        total = self.n_bytes - self._sizes.get(key, 0) + n_bytes
        if total > MOST_STORED_BYTES:
            text = f"the metadata and messages that clients store would have {total} bytes; at most {MOST_STORED_BYTES}"
            refuse(StatusCode.RESOURCE_EXHAUSTED, text)

    def set(self, key: Hashable, n_bytes: int) -> None:
        """Note the size of an object that was stored, or 0 for an object that is gone."""
        self.n_bytes += n_bytes - self._sizes.pop(key, 0)
        if n_bytes:
            self._sizes[key] = n_bytes
