# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The exception of the code generator. It must not know P4 or C."""


class CodegenError(Exception):
    """A program that cannot be turned into C.

    The message names the construct, its JSON path and, if the JSON holds them, the P4 file and line.
    """
