# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The C compiler of the environment."""

from __future__ import annotations

import os
import shlex


def compiler_words() -> tuple[str, ...]:
    """Return the words of the variable `CC`, such as `ccache` and `gcc`; by default `cc`."""
    text = os.environ.get("CC", "")
    try:
        return tuple(shlex.split(text)) or ("cc",)
    except ValueError:  # an open quotation mark; no compiler has this name
        return (text,)
