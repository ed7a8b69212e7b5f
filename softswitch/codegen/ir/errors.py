# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The one exception of the code generator. It must know nothing about P4 or C."""


class CodegenError(Exception):
    """A program that cannot be turned into C.

    The message names the construct, its JSON path and, where the compiler left it, the P4 file and line.
    """
