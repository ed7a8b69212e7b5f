# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The exception of a broken contract."""


class Broken(Exception):
    """A contract is broken. The message is one sentence for the author of the class."""


def require(condition: bool, sentence: str) -> None:
    """Raise Broken with this sentence unless the condition holds."""
    if not condition:
        raise Broken(sentence)
