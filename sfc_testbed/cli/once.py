# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A command that refuses a repeated option if it takes one value: the last value would win silently."""

from __future__ import annotations

from collections import Counter
from typing import Any

from typer.core import TyperCommand, TyperOption

from sfc_testbed.testbed.errors import UsageError


class OnceCommand(TyperCommand):
    """A command whose options with one value can be given once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing:  # a shell completes the line
            _, _, given = self.make_parser(ctx).parse_args(args=list(args))
            for option, count in Counter(given).items():
                if count > 1 and isinstance(option, TyperOption) and not (option.multiple or option.is_flag):
                    commas = "; separate its values by commas" if _LIST in (option.help or "") else ""
                    raise UsageError(f"{option.opts[0]}: given {count} times{commas}")
        rest: list[str] = super().parse_args(ctx, args)
        return rest


_LIST = "separated by commas"
