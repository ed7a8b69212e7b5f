# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The cache of compiled code, and the compilation of the host engine's Python sources to extension modules.

This is the lowest layer, because it is loaded before the first module that it replaces.
"""
